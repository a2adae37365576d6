package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// alone is a store that has one way of finding rows left.
type alone struct {
	testing.TB
	placed
	ctx     context.Context
	store   *Store
	session relay.Session
}

func only(t *testing.T, paths reading.Paths) *alone {
	t.Helper()
	p := place(t, pgtest.Mapped)
	store, err := NewStore(p.pool, Config{Schema: p.schema, paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return &alone{t, p, testContext(t), store, store.Open(relay.SessionOptions{Owner: "one"})}
}

// take claims until nothing more is said to be there, and returns what it got.
func (a *alone) take(s relay.Session, req relay.ClaimRequest) (got []outbox.ID, batches []relay.Batch) {
	a.Helper()
	for more := true; more; {
		batch, err := s.Claim(a.ctx, req)
		if err != nil {
			a.Fatal(err)
		}
		more = batch.More
		batches = append(batches, batch)
		for _, r := range batch.Records {
			got = append(got, r.ID)
		}
	}
	return got, batches
}

// settle records one kind of outcome for everything in the batches.
func (a *alone) settle(s relay.Session, kind relay.OutcomeKind, batches []relay.Batch) {
	a.Helper()
	var outcomes []relay.Outcome
	for _, b := range batches {
		for _, r := range b.Records {
			outcomes = append(outcomes, relay.Outcome{ID: r.ID, Lease: b.Lease, Kind: kind, AggregateID: r.AggregateID})
		}
	}
	if recorded, err := s.Settle(a.ctx, outcomes, nil); err != nil || slices.Contains(recorded, false) {
		a.Fatalf("settle: %v, %v", recorded, err)
	}
}

func (a *alone) expect(what string, got []outbox.ID, want ...outbox.ID) {
	a.Helper()
	if !slices.Equal(got, want) {
		a.Errorf("%s: claimed %v, want %v", what, got, want)
	}
}

func alpha(aggregate string) outbox.Entry {
	return outbox.Entry{DestinationType: "ALPHA", Destination: "x", EventType: "e", AggregateID: aggregate, Payload: 1}
}

var tailOnly = reading.Paths{NoOverlap: true, NoSweep: true}

func TestPathTail(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	for range 3 {
		ids := publishing(t, a.placed, alpha(""), alpha(""), alpha(""))
		got, _ := a.take(a.session, request(2))
		a.expect("in the order of insertion", got, ids...)
	}
	later := alpha("")
	later.ScheduledAt = time.Now().Add(2 * time.Second)
	scheduled := publishing(t, a.placed, later)
	publishing(t, a.placed, alpha(""))
	var got []outbox.ID
	for deadline := time.Now().Add(20 * time.Second); len(got) < 2 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		more, _ := a.take(a.session, request(10))
		if slices.Contains(more, scheduled[0]) && time.Until(later.ScheduledAt) > time.Second {
			t.Error("claimed long before its time")
		}
		got = append(got, more...)
	}
	if !slices.Contains(got, scheduled[0]) {
		t.Errorf("what became due was not found at the tail: %v", got)
	}
}

// late publishes an entry in a transaction that commits after a younger one was read.
func (a *alone) late(open time.Duration) outbox.ID {
	a.Helper()
	publishing(a.TB, a.placed, alpha("")) // so that there is a position
	a.take(a.session, request(10))
	tx, err := a.pool.Begin(a.ctx)
	if err != nil {
		a.Fatal(err)
	}
	ids, err := pgxStatements(a.TB, a.schema)(tx).PublishAll(a.ctx, alpha(""))
	if err != nil {
		a.Fatal(err)
	}
	younger := publishing(a.TB, a.placed, alpha(""))
	got, _ := a.take(a.session, request(10))
	if slices.Contains(got, ids[0]) || !slices.Contains(got, younger[0]) {
		a.Errorf("before the commit of %d: claimed %v, want %v", ids[0], got, younger)
	}
	time.Sleep(open)
	if err := tx.Commit(a.ctx); err != nil {
		a.Fatal(err)
	}
	return ids[0]
}

// eventually claims until the entries are found, and fails when that takes too long.
func (a *alone) eventually(what string, want ...outbox.ID) {
	a.Helper()
	var got []outbox.ID
	for deadline := time.Now().Add(20 * time.Second); len(got) < len(want) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		found, _ := a.take(a.session, request(10))
		got = append(got, found...)
	}
	a.expect(what, got, want...)
}

func TestPathTailDoesNotLookBack(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	a.late(0)
	for range 10 {
		got, _ := a.take(a.session, request(10))
		a.expect("with the tail only", got)
	}
}

func TestPathOverlap(t *testing.T) {
	t.Parallel()
	a := only(t, reading.Paths{NoSweep: true})
	for range 5 { // a slow machine may take longer between the commit and the claim than the overlap reaches
		id := a.late(0)
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if got, _ := a.take(a.session, request(10)); slices.Contains(got, id) {
				return
			}
		}
	}
	t.Error("five entries that were committed late were not found by the overlap")
}

func TestPathSweepFindsLongTransaction(t *testing.T) {
	t.Parallel()
	a := only(t, reading.Paths{NoOverlap: true})
	id := a.late(1200 * time.Millisecond)
	a.eventually("by the sweep", id)
}

func TestPathSweepFindsOldDueTime(t *testing.T) {
	t.Parallel()
	a := only(t, reading.Paths{NoOverlap: true})
	publishing(t, a.placed, alpha(""))
	// It is younger than the sweep's own start, but its due time is long past.
	if _, err := a.session.Claim(a.ctx, request(10)); err != nil {
		t.Fatal(err)
	}
	var id outbox.ID
	err := a.pool.QueryRow(a.ctx, `INSERT INTO `+pgx.Identifier{a.schema, "outbox"}.Sanitize()+`
		(carrier_id, event_type, destination, destination_type, payload, available_at)
		VALUES (gen_random_uuid(), 'raw', 'x', 'ALPHA', '1', now() - interval '1 day') RETURNING id`).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	a.eventually("by the sweep", id)
}

// TestPathSweepFindsGivenUpHead: another claim had the head's lock when this relay
// passed it, and ended without claiming it.
func TestPathSweepFindsGivenUpHead(t *testing.T) {
	t.Parallel()
	a := only(t, reading.Paths{NoOverlap: true})
	ids := publishing(t, a.placed, alpha("a"), alpha(""))
	crashing := a.Conn(t, "")
	if _, err := crashing.Exec(a.ctx, "BEGIN; SELECT FROM "+pgx.Identifier{a.schema, "outbox"}.Sanitize()+" WHERE aggregate_id = 'a' FOR NO KEY UPDATE"); err != nil {
		t.Fatal(err)
	}
	got, _ := a.take(a.session, request(10))
	a.expect("past the locked head", got, ids[1])
	if err := crashing.Close(a.ctx); err != nil {
		t.Fatal(err)
	}
	a.eventually("by the sweep", ids[0])
}

func TestPathSuccessor(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	ids := publishing(t, a.placed, alpha("a"), alpha("a"), alpha("a"))
	for i := range ids {
		got, batches := a.take(a.session, request(10))
		a.expect("the head", got, ids[i])
		a.settle(a.session, []relay.OutcomeKind{relay.Published, relay.DeadLettered}[i%2], batches)
	}
	// A retried head is due later, so it is at the tail; nothing is looked up for it.
	id := publishing(t, a.placed, alpha("b"), alpha("b"))[0]
	_, batches := a.take(a.session, request(10))
	a.settle(a.session, relay.Retried, batches)
	got, _ := a.take(a.session, request(10))
	a.expect("the head again", got, id)
}

// TestPathForeignSuccessor: the next entry is for another node, which has passed it
// while it was blocked: the node that settled the head shows it to the other.
func TestPathForeignSuccessor(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	beta := alpha("a")
	beta.DestinationType = "BETA"
	ids := publishing(t, a.placed, alpha("a"), beta)
	other := a.store.Open(relay.SessionOptions{Owner: "other"})
	here, there := request(10), request(10)
	here.Scope, there.Scope = here.Scope.Only("ALPHA"), there.Scope.Only("BETA")
	got, _ := a.take(other, there)
	a.expect("while it is blocked", got)
	got, batches := a.take(a.session, here)
	a.expect("the head", got, ids[0])
	a.settle(a.session, relay.Published, batches)
	got, _ = a.take(other, there)
	a.expect("before it was shown", got)
	got, _ = a.take(a.session, here)
	a.expect("not for this node", got)
	got, _ = a.take(other, there)
	a.expect("after it was shown", got, ids[1])
}

func TestPathComingBack(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	ids := publishing(t, a.placed, alpha(""), alpha("a"))
	other := a.store.Open(relay.SessionOptions{Owner: "other"})
	for _, back := range []func([]relay.Batch){
		func(b []relay.Batch) { a.settle(other, relay.Released, b) },
		func(b []relay.Batch) { a.settle(other, relay.Deferred, b) },
		func(b []relay.Batch) {
			if err := newTable(a.pool, a.schema).AgeLeases(a.ctx, time.Hour, b[0].Lease); err != nil {
				t.Fatal(err)
			}
			if r, err := a.store.Reclaim(a.ctx, 10, 100); err != nil || r.Returned != 2 {
				t.Fatalf("reclaim: %+v, %v", r, err)
			}
		},
	} {
		got, batches := a.take(other, request(10))
		a.expect("by the other", got, ids...)
		publishing(t, a.placed, alpha(""))
		_, passed := a.take(a.session, request(10)) // the position is behind them now
		a.settle(a.session, relay.Published, passed)
		back(batches)
		got, batches = a.take(a.session, request(10))
		slices.Sort(got)
		a.expect("what came back", got, ids...)
		a.settle(a.session, relay.Released, batches)
	}
}
