package relay

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
)

// settleState collects outcomes until they are sent to the store together. It
// belongs to the loop.
type settleState struct {
	pending []settlement
	spare   []settlement    // room for the next pending outcomes
	changes []breakerChange // to be told to the observers
	ended   []LeaseID       // leases of which nothing is held after the pending outcomes
	at      time.Time       // when to send at the latest
	busy    bool
	size    int // outcomes being sent
}

// waiting reports whether there is something to send or to tell.
func (s *settleState) waiting() bool { return len(s.pending) > 0 || len(s.changes) > 0 }

// breakerChange is told to observers in its turn with the attempts, away from the loop.
type breakerChange struct {
	target target
	state  BreakerState
}

// settlement is an outcome on its way to the store and then to the observers.
type settlement struct {
	outcome Outcome
	lease   *lease
	until   time.Time // after this the lease has ended and trying again is pointless
	attempt *Attempt  // nil when nothing was tried
	done    bool      // settled by the handler's own transaction, with attempt.Recorded set
}

// settled is the end of a settlement.
type settled struct {
	room       []settlement // of the outcomes, to be used again
	successors bool         // an entry with an aggregate was finished
	due        time.Time    // when the first of the entries that go back is due, zero if none
	failed     []LeaseID    // leases of outcomes that could not be recorded
}

// settleAfter is how long an outcome may wait for company.
const settleAfter = time.Millisecond

// conclude turns the result of an attempt into an outcome.
func (l *loop) conclude(le *lease, r *result) {
	rec, t, a := r.entry.record, r.entry.target(), r.attempt
	o := Outcome{ID: rec.ID, Lease: le.id, AggregateID: rec.AggregateID}
	verdict, wait, errorType := judge(a.Err)
	switch verdict {
	case delivery.VerdictDelivered:
		o.Kind = Published
	case delivery.VerdictPermanent:
		o.Kind = DeadLettered
	case delivery.VerdictUnresolvable:
		o.Kind = Deferred
		o.Delay = Backoff(l.cfg.UnresolvableDelay, l.cfg.UnresolvableDelay, 1, rand.Float64())
		l.endProbe(r.entry)
	case delivery.VerdictUnavailable:
		o.Kind = Deferred
		// Half the wait, so that the entry is there for the probe.
		o.Delay = max(time.Millisecond, l.breaker.unavailable(t, time.Now())/2)
	default:
		o.Kind, o.Delay = Retried, l.cfg.retryDelay(rec.Attempt+1, wait)
		if rec.Attempt+1 >= rec.MaxAttempts {
			o.Kind, o.Delay = DeadLettered, 0
		}
	}
	if verdict != delivery.VerdictUnavailable && verdict != delivery.VerdictUnresolvable {
		l.breaker.reachable(t, a.Started)
	}
	if a.Err != nil {
		o.LastError, o.ErrorType = fault.Text(a.Err), errorType
	}
	a.Verdict, a.Disposition, a.Delay = verdict, o.Kind, o.Delay
	l.hand(le, settlement{outcome: o, done: r.inTx, attempt: a})
}

// judge reads an attempt's error. The methods of an error are the application's code,
// and those of a nil pointer in an error panic easily.
func judge(err error) (v delivery.Verdict, wait time.Duration, errorType string) {
	defer func() {
		if recover() != nil {
			v, wait, errorType = delivery.VerdictRetryable, 0, typeName(err)
		}
	}()
	return delivery.VerdictOf(err), delivery.WaitOf(err), delivery.ErrorType(err)
}

// hand passes an entry from its lease to the settlement.
func (l *loop) hand(le *lease, s settlement) {
	s.lease = le
	le.pending++
	if len(l.settle.pending) == 0 {
		l.settle.at = time.Now().Add(settleAfter)
	}
	l.settle.pending = append(l.settle.pending, s)
	l.settledOne(le)
	if le.held == 0 {
		if !le.owes {
			l.settle.ended = append(l.settle.ended, le.id)
		}
		l.forget(le)
	}
}

// flush sends the pending outcomes if the store is not busy with others, and if
// they are many, have waited long enough, or nothing else is coming.
func (l *loop) flush(now time.Time) {
	st := &l.settle
	if st.busy || !st.waiting() {
		return
	}
	waiting := !l.stopping.Load() && len(st.changes) == 0 && len(st.pending) < l.cfg.BatchSize/2 && now.Before(st.at) && len(l.busy)+len(l.ready) > 0
	if waiting {
		return
	}
	batch, ended, changes := st.pending, st.ended, st.changes
	for i := range batch {
		le := batch[i].lease
		batch[i].until = le.ends
		le.pending--
		l.forget(le)
	}
	st.pending, st.spare = st.spare, nil
	st.ended, st.changes, st.busy, st.size = nil, nil, true, len(batch)
	l.background(func() {
		var s settled
		defer func() { l.settled <- s }() // also when an observer ends this goroutine
		l.record(&s, batch, ended)
		l.tellChanges(changes)
		l.tell(batch)
		clear(batch)
		s.room = batch[:0]
	})
}

func (l *loop) onSettled(s settled) {
	l.settle.busy, l.settle.size, l.settle.spare = false, 0, s.room
	for _, id := range s.failed {
		// The store must not take the lease for ended while a row names it: the row
		// returns when the lease expires.
		if le := l.leases[id]; le != nil {
			le.owes = true
		}
		l.settle.ended = slices.DeleteFunc(l.settle.ended, func(e LeaseID) bool { return e == id })
	}
	l.claimAt(s.due)
	if s.successors {
		l.claimSoon(time.Now())
	}
}

// record sends outcomes to the store, again and again while a lease among them may
// still be held. A failing store costs duplicates, never more: what could not be
// recorded is delivered again when its lease has expired.
func (l *loop) record(s *settled, batch []settlement, ended []LeaseID) {
	outcomes := make([]Outcome, 0, len(batch))
	var until time.Time
	for i := range batch {
		if batch[i].done {
			continue
		}
		outcomes = append(outcomes, batch[i].outcome)
		if batch[i].until.After(until) {
			until = batch[i].until
		}
	}
	if len(outcomes)+len(ended) == 0 {
		return
	}
	recorded, ok := l.persist(outcomes, ended, until)
	now, next := time.Now(), 0
	for i := range batch {
		b := &batch[i]
		if !b.done {
			if b.attempt != nil {
				b.attempt.Recorded = next < len(recorded) && recorded[next]
			}
			next++
			if !ok {
				s.failed = append(s.failed, b.outcome.Lease)
			}
		}
		if a := b.attempt; a != nil && a.Delay > 0 && a.Verdict != delivery.VerdictUnavailable {
			if due := now.Add(a.Delay); s.due.IsZero() || due.Before(s.due) {
				s.due = due
			}
		}
		finished := b.outcome.Kind == Published || b.outcome.Kind == DeadLettered
		s.successors = s.successors || finished && b.outcome.AggregateID != ""
	}
}

// persist returns ok false when the outcomes could not be recorded.
func (l *loop) persist(outcomes []Outcome, ended []LeaseID, until time.Time) (recorded []bool, ok bool) {
	for failures := 1; ; failures++ {
		ctx, cancel := l.storeContext(l.cfg.StoreTimeout)
		recorded, err := guard("relay.settle", func() ([]bool, error) { return l.session.Settle(ctx, outcomes, ended) })
		cancel()
		if err == nil {
			return recorded, true
		}
		pause := Backoff(failedPause, time.Second, failures, rand.Float64())
		l.cfg.Logger.Warn("outcomes not recorded", "error", err, "entries", len(outcomes), "failures", failures)
		limit := until
		if end := l.endsAt.Load(); end != nil && end.Before(limit) {
			limit = *end
		}
		if time.Now().Add(pause).After(limit) {
			return nil, false
		}
		time.Sleep(pause)
	}
}

// tellChanges informs the observers of circuit breakers.
func (l *loop) tellChanges(changes []breakerChange) {
	ctx := context.Background()
	for _, c := range changes {
		observe(ctx, l.cfg.Logger, l.cfg.Observers, func(o Observer) {
			if b, ok := o.(BreakerObserver); ok {
				b.BreakerChanged(ctx, c.target.Type, c.target.Name, c.state)
			}
		})
	}
}

// tell informs the observers of what was tried.
func (l *loop) tell(batch []settlement) {
	if len(l.cfg.Observers) == 0 {
		return
	}
	ctx := context.Background()
	for i := range batch {
		if a := batch[i].attempt; a != nil {
			observe(ctx, l.cfg.Logger, l.cfg.Observers, func(o Observer) { o.Attempted(ctx, *a) })
		}
	}
}
