package relay_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// downUntil is a handler whose destination "d" is down until a time.
func downUntil(t testing.TB, back time.Time) *recorder {
	return handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
		if e.Destination == "d" && time.Now().Before(back) {
			return delivery.Unavailable(errors.New("connection refused"))
		}
		return nil
	})
}

// TestOutage follows a destination that is down for ten minutes, beside one that is not.
func TestOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		began := time.Now()
		h := downUntil(t, began.Add(10*time.Minute))
		all := entries(40, name("A"))
		for i := range all {
			if all[i].MaxAttempts = 1; i >= 30 {
				all[i].Destination = "up"
			}
		}
		ids := publish(t, s, all...)
		var seen attempts
		x := start(t, s, relay.Config{
			Concurrency: 2, ProbeDelay: time.Second, ProbeMax: 8 * time.Second, PollingInterval: time.Hour,
			Observers: []relay.Observer{&seen},
		}, h)
		time.Sleep(time.Second / 2)
		wantStates(t, s, ids[30:], outbox.Published)
		late := entryOf("")
		late.Destination = "up"
		lateID := publish(t, s, late)[0]
		x.Wake()
		time.Sleep(time.Second)
		if rows(s)[lateID].State != outbox.Published {
			t.Error("an entry for another destination of the type waits for the outage")
		}
		time.Sleep(10*time.Minute - time.Since(began))

		var probes []call
		for _, c := range h.seen() {
			if c.Destination == "d" {
				probes = append(probes, c)
			}
		}
		if len(probes) < 60 || len(probes) > 130 {
			t.Errorf("%d calls of a destination that was down for 600 s", len(probes))
		}
		for i := range probes[:len(probes)-3] {
			// The two slots can have been busy with it when the first call failed.
			if gap := probes[i+3].Start.Sub(probes[i+2].Start); gap < 750*time.Millisecond || i > 5 && gap < 6*time.Second {
				t.Errorf("probe %d came %v after the one before", i+3, gap)
			}
		}
		for _, id := range ids[:30] {
			if r := rows(s)[id]; r.State != outbox.Pending || r.Attempt != 0 {
				t.Errorf("entry %d is %s with attempt %d", id, r.State, r.Attempt)
			}
		}
		back := time.Now()
		until(t, "the backlog", settled(s))
		if took := time.Since(back); took > 10*time.Second {
			t.Errorf("the backlog took %v", took)
		}
		x.end()
		wantStates(t, s, ids, outbox.Published)
		states := seen.states()
		for i := range states {
			want := relay.BreakerOpen
			switch {
			case i == len(states)-1:
				want = relay.BreakerClosed
			case i%2 == 1:
				want = relay.BreakerHalfOpen
			}
			if states[i] != want {
				t.Fatalf("breaker states %v", states)
			}
		}
		for _, a := range seen.all() {
			if a.Verdict == delivery.VerdictUnavailable && (a.Disposition != relay.Deferred || a.Delay <= 0 || !a.Recorded) {
				t.Errorf("told %+v", a)
			}
		}
	})
}

// TestWaitingEntriesAreWithdrawn: what was claimed before the outage was noticed does not
// occupy one slot after the other, and goes back untouched.
func TestWaitingEntriesAreWithdrawn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.Destination == "d" {
				time.Sleep(5 * time.Second)
				return delivery.Unavailable(errors.New("connect: timed out"))
			}
			return nil
		})
		all := entries(50, unordered)
		all[49].Destination = "up"
		ids := publish(t, s, all...)
		x := start(t, s, relay.Config{Concurrency: 3, ProbeDelay: time.Minute, ProbeMax: time.Minute}, h)
		time.Sleep(6 * time.Second)
		wantStates(t, s, ids, slices.Concat(slices.Repeat([]outbox.State{outbox.Pending}, 49), []outbox.State{outbox.Published})...)
		if len(h.seen()) != 4 {
			t.Errorf("%d calls", len(h.seen()))
		}
		for _, id := range ids[3:49] {
			if r := rows(s)[id]; r.Claims != 0 || r.Attempt != 0 || r.LastError != "" {
				t.Errorf("entry %d was touched", id)
			}
		}
		x.end()
	})
}

// TestInconclusiveProbe: a probe that says nothing about the destination is followed by
// another.
func TestInconclusiveProbe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			switch nth {
			case 1:
				return delivery.Unavailable(errors.New("down"))
			case 2, 3:
				return delivery.Unresolvable(errors.New("who?"))
			}
			return nil
		})
		ids := publish(t, s, entries(1, unordered)...)
		var seen attempts
		x := start(t, s, relay.Config{PollingInterval: time.Hour, UnresolvableDelay: 100 * time.Millisecond, Observers: []relay.Observer{&seen}}, h)
		time.Sleep(10 * time.Second)
		wantStates(t, s, ids, outbox.Published)
		x.end()
		want := []relay.BreakerState{
			relay.BreakerOpen, relay.BreakerHalfOpen, relay.BreakerOpen, relay.BreakerHalfOpen,
			relay.BreakerOpen, relay.BreakerHalfOpen, relay.BreakerClosed,
		}
		if !slices.Equal(seen.states(), want) {
			t.Errorf("breaker states %v", seen.states())
		}
	})
}

// TestAnyAnswerCloses: a refusal shows that the destination is there.
func TestAnyAnswerCloses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			switch {
			case nth == 1:
				return delivery.Unavailable(errors.New("down"))
			case e.ID == 1:
				return delivery.Permanent(errors.New("refused"))
			}
			return nil
		})
		ids := publish(t, s, entries(2, same("A"))...)
		x := start(t, s, relay.Config{PollingInterval: time.Hour}, h)
		time.Sleep(10 * time.Second)
		x.end()
		wantStates(t, s, ids, outbox.DeadLetter, outbox.Published)
	})
}

// TestNoTrafficCloses: with nothing to probe with there is nothing to protect.
func TestNoTrafficCloses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := downUntil(t, time.Now().Add(time.Hour))
		publish(t, s, entryOf(""))
		var seen attempts
		x := start(t, s, relay.Config{ProbeDelay: 10 * time.Second, Observers: []relay.Observer{&seen}}, h)
		time.Sleep(6 * time.Second) // the entry is due again
		if n, err := newRelay(t, s, relay.Config{}, handler(t, nil)).Drain(t.Context()); n != 1 || err != nil {
			t.Errorf("another relay delivered %d entries, %v", n, err)
		}
		time.Sleep(10 * time.Second)
		x.end()
		if want := []relay.BreakerState{relay.BreakerOpen, relay.BreakerHalfOpen, relay.BreakerClosed}; !slices.Equal(seen.states(), want) {
			t.Errorf("breaker states %v", seen.states())
		}
	})
}

// TestProbeClaimFails: the store's failure is not the end of probing.
func TestProbeClaimFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := downUntil(t, time.Now().Add(500*time.Millisecond))
		ids := publish(t, s, entryOf(""))
		failed := false
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			if req.Probe && !failed {
				failed = true
				return relay.Batch{}, storetest.ErrInjected
			}
			if req.Probe && (req.Limit != 1 || !req.Scope.Allows("T", "d") || req.Scope.Allows("T", "up")) {
				t.Errorf("a probe asks for %+v", req)
			}
			return next.Claim(ctx, req)
		}}
		x := start(t, w, relay.Config{PollingInterval: time.Hour}, h)
		time.Sleep(10 * time.Second)
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if !failed {
			t.Error("no probe was made")
		}
	})
}

// TestBreakerObserverHarmsNobody: it panics, or takes longer than a lease.
func TestBreakerObserverHarmsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := downUntil(t, time.Now().Add(5*time.Second))
		slow := handlerOf(t, "OTHER", func(ctx context.Context, _ delivery.Envelope, _ int) error {
			select {
			case <-time.After(8 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		all := entries(3, unordered)
		all[2].DestinationType = "OTHER"
		ids := publish(t, s, all...)
		bad := &badBreakerObserver{}
		x := start(t, s, relay.Config{LeaseTimeout: 2 * time.Second, Observers: []relay.Observer{bad}}, h, slow)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if len(slow.seen()) != 1 {
			t.Errorf("the slow handler was called %d times: its lease was lost", len(slow.seen()))
		}
	})
}

type badBreakerObserver struct{ n int }

func (*badBreakerObserver) Attempted(context.Context, relay.Attempt) {}

func (b *badBreakerObserver) BreakerChanged(context.Context, destination.Type, string, relay.BreakerState) {
	if b.n++; b.n > 1 {
		panic("no")
	}
	time.Sleep(4 * time.Second)
}

// TestBacklogFollowsASlowProbe: the relay has long gone to sleep when the answer comes.
func TestBacklogFollowsASlowProbe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		back := time.Now().Add(500 * time.Millisecond)
		h := handler(t, func(context.Context, delivery.Envelope, int) error {
			if time.Now().Before(back) {
				return delivery.Unavailable(errors.New("down"))
			}
			time.Sleep(5 * time.Second)
			return nil
		})
		ids := publish(t, s, entries(10, unordered)...)
		x := start(t, s, relay.Config{PollingInterval: time.Hour}, h)
		time.Sleep(12 * time.Second)
		wantStates(t, s, ids, outbox.Published)
		x.end()
	})
}
