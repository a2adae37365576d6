package relay_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestSettlementIsTriedAgain: a store that fails to record for a while costs nothing.
func TestSettlementIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, nil)
		flaky := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpSettle, Call: 1, Count: 4}})
		ids := publish(t, s, entries(5, unordered)...)
		var seen attempts
		x := start(t, flaky, relay.Config{Observers: []relay.Observer{&seen}}, h)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if len(h.seen()) != 5 || len(seen.all()) != 5 {
			t.Errorf("%d calls and %d observations of 5 entries", len(h.seen()), len(seen.all()))
		}
		for _, a := range seen.all() {
			if !a.Recorded {
				t.Errorf("entry %d is said not to be recorded", a.Envelope.ID)
			}
		}
	})
}

// TestSettlementFailsForEver: one more delivery for each time that the lease expires,
// with the same message id; other work of the relay goes on afterwards.
func TestSettlementFailsForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, nil)
		healed := time.Now().Add(35 * time.Second)
		w := &wrapped{Store: s, settle: func(ctx context.Context, next relay.Session, o []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
			if time.Now().Before(healed) {
				return nil, errors.New("connection lost")
			}
			return next.Settle(ctx, o, ended)
		}}
		id := publish(t, s, entryOf(""))[0]
		var seen attempts
		lease := 10 * time.Second
		x := start(t, w, relay.Config{LeaseTimeout: lease, Observers: []relay.Observer{&seen}}, h)
		end := reclaim(t, s, time.Second)
		until(t, "the end", settled(s))
		end()
		x.end()
		calls := h.of(id)
		if len(calls) != 4 {
			t.Errorf("%d deliveries in 35 s under a lease of 10 s, want 4", len(calls))
		}
		for i, c := range calls {
			if i > 0 && (c.Start.Sub(calls[i-1].Start) < lease || c.Message != calls[0].Message || c.Attempt != 1) {
				t.Errorf("delivery %d: %v after the one before, message id %v, attempt %d", i, c.Start.Sub(calls[i-1].Start), c.Message, c.Attempt)
			}
		}
		for i, a := range seen.all() {
			if a.Recorded != (i == len(calls)-1) {
				t.Errorf("observation %d says recorded %v", i, a.Recorded)
			}
		}
		if len(seen.all()) != len(calls) {
			t.Errorf("%d observations of %d deliveries", len(seen.all()), len(calls))
		}
	})
}

// TestFailedSettlementKeepsItsLease: a lease whose outcome could not be recorded is not
// given up when its other entries are done, or nobody would find the one that is left.
func TestFailedSettlementKeepsItsLease(t *testing.T) {
	t.Parallel()
	// The other entry is done after, and before, the relay gives up on recording the first.
	for _, other := range []time.Duration{20 * time.Second, time.Second} {
		t.Run(other.String(), func(t *testing.T) { bubble(t, func(t *testing.T) { failedSettlement(t, other) }) })
	}
}

func failedSettlement(t *testing.T, other time.Duration) {
	s := memstore.New(memstore.Config{})
	h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
		if e.ID == 2 && nth == 1 {
			time.Sleep(other)
		}
		return nil
	})
	healed := time.Now().Add(15 * time.Second)
	w := &wrapped{Store: s, settle: func(ctx context.Context, next relay.Session, o []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
		if time.Now().Before(healed) && slices.ContainsFunc(o, func(o relay.Outcome) bool { return o.ID == 1 }) {
			return nil, errors.New("cannot record this one")
		}
		return next.Settle(ctx, o, ended)
	}}
	ids := publish(t, s, entries(2, unordered)...)
	x := start(t, w, relay.Config{LeaseTimeout: 3 * time.Second}, h)
	time.Sleep(15 * time.Second)
	end := reclaim(t, s, time.Second)
	until(t, "both entries, without any healing", settled(s))
	end()
	x.end()
	wantStates(t, s, ids, outbox.Published)
	if len(h.of(1)) != 2 || len(h.of(2)) != 1 {
		t.Errorf("%d and %d deliveries, want 2 and 1", len(h.of(1)), len(h.of(2)))
	}
}

// TestSettlementAnswerLost: after the commit and before the reply. The second call finds
// nothing to record, and that is the end of it.
func TestSettlementAnswerLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.ID == 2 {
				return delivery.Permanent(errors.New("no"))
			}
			return nil
		})
		flaky := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpSettle, Call: 1, Count: 2, When: storetest.After}})
		ids := publish(t, s, entries(2, unordered)...)
		var seen attempts
		x := start(t, flaky, relay.Config{Observers: []relay.Observer{&seen}}, h)
		time.Sleep(time.Minute)
		x.end()
		wantStates(t, s, ids, outbox.Published, outbox.DeadLetter)
		if len(h.seen()) != 2 || len(seen.all()) != 2 || rows(s)[2].Attempt != 1 {
			t.Errorf("%d calls, %d observations, attempt %d", len(h.seen()), len(seen.all()), rows(s)[2].Attempt)
		}
	})
}

// TestSettlementPanics and hangs: like any other failure.
func TestSettlementPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		calls := 0
		w := &wrapped{Store: s, settle: func(ctx context.Context, next relay.Session, o []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
			switch calls++; calls {
			case 1:
				panic("secret")
			case 2:
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return next.Settle(ctx, o, ended)
		}}
		ids := publish(t, s, entryOf(""))
		logger, logged := logs()
		h := handler(t, nil)
		x := start(t, w, relay.Config{Logger: logger, StoreTimeout: 2 * time.Second}, h)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		wantOrder(t, h, ids...)
		if strings.Contains(logged(), "secret") || !strings.Contains(logged(), "panicked") {
			t.Errorf("the log is %s", logged())
		}
	})
}

// TestAnswerOfAnotherLength: entries without an answer count as not recorded.
func TestAnswerOfAnotherLength(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := &wrapped{Store: s, settle: func(ctx context.Context, next relay.Session, o []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
			_, err := next.Settle(ctx, o, ended)
			return nil, err
		}}
		publish(t, s, entries(3, unordered)...)
		var seen attempts
		x := start(t, w, relay.Config{Observers: []relay.Observer{&seen}}, handler(t, nil))
		until(t, "the end", settled(s))
		x.end()
		if len(seen.all()) != 3 || slices.ContainsFunc(seen.all(), func(a relay.Attempt) bool { return a.Recorded }) {
			t.Errorf("observers were told %+v", seen.all())
		}
	})
}

// TestObserversHarmNobody: each is told once per attempt whatever the others do.
func TestObserversHarmNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		var first, last attempts
		n := 0
		bad := relay.ObserverFunc(func(context.Context, relay.Attempt) {
			switch n++; n % 3 {
			case 0:
				panic("secret")
			case 1:
				panic(nil)
			default:
				time.Sleep(3 * time.Second)
			}
		})
		logger, logged := logs()
		ids := publish(t, s, entries(20, unordered)...)
		h := handler(t, nil)
		x := start(t, s, relay.Config{Observers: []relay.Observer{&first, bad, &last}, Logger: logger, BatchSize: 4}, h)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		for _, seen := range []*attempts{&first, &last} {
			told := map[outbox.ID]int{}
			for _, a := range seen.all() {
				told[a.Envelope.ID]++
				if !a.Recorded || a.Duration < 0 || a.Started.IsZero() {
					t.Errorf("told %+v", a)
				}
			}
			if len(told) != 20 || len(seen.all()) != 20 {
				t.Errorf("told of %d entries in %d calls, want 20 in 20", len(told), len(seen.all()))
			}
		}
		if strings.Contains(logged(), "secret") || !strings.Contains(logged(), "observer panicked") {
			t.Errorf("the log is %s", logged())
		}
	})
}

// TestObserverEndsItsGoroutine: the relay goes on.
func TestObserverEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		once := false
		bad := relay.ObserverFunc(func(context.Context, relay.Attempt) {
			if !once {
				once = true
				runtime.Goexit()
			}
		})
		ids := publish(t, s, entries(8, unordered)...)
		x := start(t, s, relay.Config{Observers: []relay.Observer{bad}, BatchSize: 1}, handler(t, nil))
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
	})
}

// TestOnPublished: the relay passes on what is to become of delivered entries.
func TestOnPublished(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for what, want := range map[relay.OnPublished]int{"": 1, relay.Keep: 1, relay.Archive: 1, relay.Delete: 0} {
			s := memstore.New(memstore.Config{})
			publish(t, s, entryOf(""))
			if _, err := newRelay(t, s, relay.Config{OnPublished: what}, handler(t, nil)).Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			left := s.Rows()
			if len(left) != want || want == 1 && left[0].Archived != (what == relay.Archive) {
				t.Errorf("%q leaves %+v", what, left)
			}
		}
	})
}
