package relay_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestLostLeaseOfWhatWaits: entries that wait for a slot when their lease is lost are not
// delivered under it, nor given back.
func TestLostLeaseOfWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		slow := handler(t, func(context.Context, delivery.Envelope, int) error { <-release; return nil })
		ids := publish(t, s, entries(6, unordered)...)
		x := start(t, s, relay.Config{BatchSize: 6, Concurrency: 1, LeaseTimeout: 3 * time.Second, DeliveryTimeout: time.Hour, PollingInterval: time.Hour}, slow)
		time.Sleep(time.Second / 2)
		takeBack(t, s)
		quick := handler(t, nil)
		y := start(t, s, relay.Config{}, quick)
		until(t, "the end", settled(s))
		time.Sleep(time.Minute)
		close(release)
		x.end()
		y.end()
		wantStates(t, s, ids, outbox.Published)
		if len(slow.seen()) != 1 || len(quick.seen()) != 6 {
			t.Errorf("%d and %d deliveries, want 1 and 6", len(slow.seen()), len(quick.seen()))
		}
	})
}

// TestSlowObserverKeepsLeases: outcomes that wait for their turn behind a slow observer are
// not lost to recovery.
func TestSlowObserverKeepsLeases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			time.Sleep(time.Duration(e.ID) * 20 * time.Millisecond)
			return nil
		})
		ids := publish(t, s, entries(40, unordered)...)
		slow := relay.ObserverFunc(func(_ context.Context, a relay.Attempt) {
			if !a.Recorded {
				t.Errorf("entry %d is not recorded", a.Envelope.ID)
			}
			time.Sleep(time.Second)
		})
		x := start(t, s, relay.Config{LeaseTimeout: 3 * time.Second, BatchSize: 20, Observers: []relay.Observer{slow}}, h)
		end := reclaim(t, s, 100*time.Millisecond)
		until(t, "the end", settled(s))
		end()
		x.stop()
		wantStates(t, s, ids, outbox.Published)
		if len(h.seen()) != 40 {
			t.Errorf("%d deliveries of 40 entries", len(h.seen()))
		}
	})
}

// waitingSuspect runs a relay with a suspect that waits for a slow handler to end.
func waitingSuspect(t *testing.T, lease time.Duration) (s *memstore.Store, x *running, h *recorder, suspect outbox.ID, release chan struct{}) {
	t.Helper()
	s = memstore.New(memstore.Config{})
	suspect = publish(t, s, entryOf(""))[0]
	loseClaims(t, s, 2)
	slow := publish(t, s, entryOf(""))[0]
	release = make(chan struct{})
	h = handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
		if e.ID == slow {
			<-release
		}
		return nil
	})
	x = start(t, s, relay.Config{LeaseTimeout: lease, DeliveryTimeout: time.Hour, PollingInterval: time.Hour}, h)
	time.Sleep(100 * time.Millisecond)
	if rows(s)[suspect].State != outbox.Processing || len(h.of(suspect)) != 0 {
		t.Fatal("the suspect does not wait")
	}
	return s, x, h, suspect, release
}

// TestWaitingSuspectIsStopped: it goes back untouched.
func TestWaitingSuspectIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, x, h, suspect, release := waitingSuspect(t, time.Minute)
		x.cancel()
		time.Sleep(100 * time.Millisecond)
		if r := rows(s)[suspect]; r.State != outbox.Pending || r.Claims != 2 || r.Attempt != 0 {
			t.Errorf("the suspect is %s with %d claims", r.State, r.Claims)
		}
		close(release)
		x.end()
		if len(h.of(suspect)) != 0 {
			t.Error("the suspect was delivered by a relay that stops")
		}
	})
}

// TestWaitingSuspectLosesItsLease: it is forgotten, and the relay goes on.
func TestWaitingSuspectLosesItsLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, x, h, suspect, release := waitingSuspect(t, 3*time.Second)
		takeBack(t, s)
		time.Sleep(2 * time.Second)
		close(release)
		x.Wake()
		until(t, "the suspect", func() bool { return rows(s)[suspect].State == outbox.Published })
		until(t, "the end", settled(s))
		x.end()
		if len(h.of(suspect)) != 1 {
			t.Errorf("%d deliveries of the suspect", len(h.of(suspect)))
		}
	})
}

// TestWaitingSuspectIsNoHostage: while a slow handler keeps it waiting for longer than a
// lease, it goes back for others to take.
func TestWaitingSuspectIsNoHostage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, x, h, suspect, release := waitingSuspect(t, 2*time.Second)
		time.Sleep(5 * time.Second)
		if n, err := newRelay(t, s, relay.Config{}, handler(t, nil)).Drain(t.Context()); n != 1 || err != nil {
			t.Errorf("another relay made %d attempts, %v", n, err)
		}
		close(release)
		until(t, "the end", settled(s))
		x.end()
		if len(h.of(suspect)) != 0 {
			t.Error("the suspect was delivered here as well")
		}
	})
}

// TestProbeThatIsNotFinished: a store that has not looked at everything is asked again, and
// a probe that is lost with its lease is followed by another.
func TestProbeThatIsNotFinished(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		down := errors.New("down")
		lost := make(chan struct{})
		h := handler(t, func(ctx context.Context, e delivery.Envelope, nth int) error {
			switch {
			case e.Destination == "up":
				<-lost // keeps the only slot, so that the probe waits for it
			case nth == 1:
				return delivery.Unavailable(down)
			}
			return nil
		})
		probes := 0
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			if req.Probe {
				if probes++; probes <= 3 {
					return relay.Batch{More: true}, nil
				}
			}
			return next.Claim(ctx, req)
		}}
		ids := publish(t, s, entryOf(""))
		var seen attempts
		x := start(t, w, relay.Config{
			Concurrency: 1, ProbeDelay: 10 * time.Second, LeaseTimeout: 30 * time.Second, DeliveryTimeout: time.Hour,
			Observers: []relay.Observer{&seen},
		}, h)
		time.Sleep(time.Second)
		up := entryOf("")
		up.Destination = "up"
		ids = append(ids, publish(t, s, up)...)
		time.Sleep(10 * time.Second)
		if r := rows(s)[ids[0]]; r.State != outbox.Processing || probes != 4 {
			t.Fatalf("after %d probes the entry is %s", probes, r.State)
		}
		takeBack(t, s)
		time.Sleep(25 * time.Second) // the next renewal tells
		close(lost)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		got := seen.states()
		want := []relay.BreakerState{relay.BreakerOpen, relay.BreakerHalfOpen, relay.BreakerOpen, relay.BreakerHalfOpen}
		if len(got) < 5 || !slices.Equal(got[:4], want) || got[len(got)-1] != relay.BreakerClosed {
			t.Errorf("breaker states %v", got)
		}
	})
}

// TestProbeThatFindsNoSlot goes back, and is followed by another when there is one.
func TestProbeThatFindsNoSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			switch {
			case e.Destination == "up":
				<-release
			case nth == 1:
				return delivery.Unavailable(errors.New("down"))
			}
			return nil
		})
		ids := publish(t, s, entryOf(""))
		x := start(t, s, relay.Config{Concurrency: 1, ProbeDelay: 5 * time.Second, LeaseTimeout: 3 * time.Second, DeliveryTimeout: time.Hour}, h)
		time.Sleep(time.Second)
		up := entryOf("")
		up.Destination = "up"
		ids = append(ids, publish(t, s, up)...)
		time.Sleep(20 * time.Second)
		wantStates(t, s, ids, outbox.Pending, outbox.Processing)
		close(release)
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
	})
}

// TestSuspectIsNotStarved by traffic that never ends.
func TestSuspectIsNotStarved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		suspect := publish(t, s, entryOf(""))[0]
		loseClaims(t, s, 2)
		h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(100 * time.Millisecond); return nil })
		publish(t, s, entries(5, unordered)...)
		x := start(t, s, relay.Config{Waker: s.Waker()}, h)
		for range 100 {
			time.Sleep(20 * time.Millisecond)
			publish(t, s, entryOf(""))
		}
		if r := rows(s)[suspect]; r.State != outbox.Published {
			t.Errorf("after two seconds of traffic the suspect is %s", r.State)
		}
		until(t, "the end", settled(s))
		x.end()
	})
}
