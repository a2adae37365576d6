package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// publisher writes until the disturbances end: one to five entries of one aggregate,
// or of none, in a transaction that may be long, may roll back, and may be raw SQL
// with a due time long past.
func (w *world) publisher(_ string, random *rand.Rand) {
	bind := pgxStatements(w.TB, w.placed.schema)
	for !w.over(w.silence) {
		aggregate := fmt.Sprintf("a%d", random.IntN(12))
		if random.IntN(6) == 0 {
			aggregate = ""
		}
		var ids []outbox.ID
		err := pgx.BeginFunc(w.ctx, w.placed.pool, func(tx pgx.Tx) (err error) {
			if random.IntN(15) == 0 {
				ids, err = w.rawInsert(tx, aggregate)
			} else {
				ids, err = bind(tx).PublishAll(w.ctx, w.entries(random, aggregate)...)
			}
			switch {
			case err != nil:
				return err
			case random.IntN(12) == 0:
				return errRollback
			case random.IntN(25) == 0: // longer than any relay looks back
				time.Sleep(1200 * time.Millisecond)
			case random.IntN(4) == 0:
				time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
			}
			return nil
		})
		if err == nil {
			w.checker.isCommitted(aggregate, ids)
		}
		time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
	}
}

var errRollback = errors.New("the application changed its mind")

func (w *world) entries(random *rand.Rand, aggregate string) []outbox.Entry {
	list := make([]outbox.Entry, 1+random.IntN(5))
	for i := range list {
		list[i] = outbox.Entry{
			DestinationType: []destination.Type{"ALPHA", "ALPHA", "BETA"}[random.IntN(3)],
			Destination:     []string{"x", "y", "z"}[random.IntN(3)],
			EventType:       "e", AggregateID: aggregate, Payload: i,
		}
		if random.IntN(20) == 0 {
			list[i].ScheduledAt = time.Now().Add(time.Duration(random.IntN(300)) * time.Millisecond)
		}
	}
	return list
}

func (w *world) rawInsert(tx pgx.Tx, aggregate string) ([]outbox.ID, error) {
	rows, err := tx.Query(w.ctx, `INSERT INTO `+newTable(nil, w.placed.schema).prefix+`outbox
			(carrier_id, aggregate_id, event_type, destination, destination_type, payload, available_at)
		VALUES (gen_random_uuid(), nullif($1::text, ''), 'raw', 'x', 'ALPHA', '1', now() - interval '1 hour') RETURNING id`, aggregate)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[outbox.ID])
}

// relay claims with changing scopes until everything is delivered. Now and then its
// process ends: it forgets its session and what it holds.
func (w *world) relay(name string, random *rand.Rand) {
	session := w.store.Open(relay.SessionOptions{Owner: name})
	scope := w.scope(nil)
	for life := 0; !w.over(w.calm); {
		disturbing := !w.over(w.stop)
		if disturbing && random.IntN(40) == 0 {
			life++
			session = w.store.Open(relay.SessionOptions{Owner: fmt.Sprintf("%s-%d", name, life)})
		}
		if random.IntN(15) == 0 || !disturbing {
			scope = w.scope(random)
		}
		req := relay.ClaimRequest{Limit: 1 + random.IntN(20), RunLength: 1 + random.IntN(6), Lease: 300 * time.Millisecond, Scope: scope}
		if types := scope.Types(); random.IntN(2) == 0 {
			req.First = types[random.IntN(len(types))].Type
		}
		before := w.checker.before()
		batch, err := session.Claim(w.ctx, req)
		if w.disturbed("claim", err) {
			continue
		}
		w.checker.claimed(before, req.Limit, batch)
		if len(batch.Records) == 0 {
			if !batch.More {
				time.Sleep(time.Duration(1+random.IntN(10)) * time.Millisecond)
			}
			continue
		}
		w.deliver(session, random, batch, disturbing)
	}
}

// scope is everything, or while things are disturbed and in half of the cases a part.
func (w *world) scope(random *rand.Rand) claim.Snapshot {
	caps := claim.Capabilities{"ALPHA": claim.All(), "BETA": claim.All()}
	if random != nil && !w.over(w.stop) && random.IntN(2) == 0 {
		name := []string{"x", "y", "z"}[random.IntN(3)]
		caps["ALPHA"] = claim.Targets(func() []string { return []string{name} })
		if random.IntN(2) == 0 {
			delete(caps, "BETA")
		}
	}
	s, err := claim.Resolve(caps)
	if err != nil {
		w.Error(err)
	}
	return s
}

// deliver settles the batch run by run, in every way there is, or not at all.
func (w *world) deliver(session relay.Session, random *rand.Rand, batch relay.Batch, disturbing bool) {
	if disturbing {
		switch random.IntN(20) {
		case 0: // the process ends: recovery has to find these
			return
		case 1: // the process is slow: somebody else may have them by now
			time.Sleep(time.Duration(200+random.IntN(400)) * time.Millisecond)
		case 2:
			if _, err := session.Renew(w.ctx, []relay.LeaseID{batch.Lease}, 300*time.Millisecond); w.disturbed("renew", err) {
				return
			}
		}
	}
	var outcomes []relay.Outcome
	failed := map[string]bool{}
	inTx := random.IntN(8) == 0
	for _, r := range batch.Records {
		o := relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID}
		switch {
		case r.AggregateID != "" && failed[r.AggregateID]:
			o.Kind = relay.ReleasedBehind
		case inTx:
			if failed[r.AggregateID] = !w.deliverTx(session, o); !failed[r.AggregateID] {
				continue
			}
			o.Kind = relay.ReleasedBehind // if it is still ours
		case disturbing && random.IntN(5) == 0:
			failed[r.AggregateID] = true
			o.Kind = []relay.OutcomeKind{relay.Retried, relay.Deferred, relay.Released}[random.IntN(3)]
			o.Delay = time.Duration(random.IntN(30)) * time.Millisecond
		}
		outcomes = append(outcomes, o)
	}
	if len(outcomes) > 1 && random.IntN(3) == 0 { // in two calls, the first of which is the first part of each run
		cut := random.IntN(len(outcomes))
		w.settle(session, outcomes[:cut], nil)
		outcomes = outcomes[cut:]
	}
	w.settle(session, outcomes, []relay.LeaseID{batch.Lease})
}

// deliverTx delivers in the transaction that settles, and reports whether that is certain.
func (w *world) deliverTx(session relay.Session, o relay.Outcome) bool {
	w.checker.finishing(o.AggregateID, o.ID)
	began := w.checker.moment()
	recorded, workErr, err := session.(relay.TxSession).DeliverTx(w.ctx, o, func(context.Context, any) error { return nil })
	if workErr != nil {
		w.Errorf("deliver: the work failed: %v", workErr)
	}
	if w.disturbed("deliver", err) {
		return false
	}
	w.checker.settled([]relay.Outcome{o}, began, []bool{recorded})
	return recorded
}

// settle repeats a settlement until its answer is known.
func (w *world) settle(session relay.Session, outcomes []relay.Outcome, ended []relay.LeaseID) {
	for _, o := range outcomes {
		if o.Kind == relay.Published {
			w.checker.finishing(o.AggregateID, o.ID)
		}
	}
	for range 20 {
		began := w.checker.moment()
		recorded, err := session.Settle(w.ctx, outcomes, ended)
		if !w.disturbed("settle", err) {
			w.checker.settled(outcomes, began, recorded)
			return
		}
	}
	if !errors.Is(w.ctx.Err(), context.DeadlineExceeded) {
		w.Error("a settlement failed twenty times")
	}
}
