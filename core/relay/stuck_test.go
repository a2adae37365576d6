package relay_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestStuckHandlers: two slots, both taken for good. They are reported and counted, never
// more handlers run, what was claimed beyond them goes back, Run ends by its deadline and
// says so, and another relay delivers everything.
func TestStuckHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.ID <= 2 {
				<-release
			}
			return nil
		})
		ids := publish(t, s, entries(12, unordered)...)
		logger, logged := logs()
		var seen attempts
		x := start(t, s, relay.Config{
			BatchSize: 10, Concurrency: 2, DeliveryTimeout: time.Second, LeaseTimeout: 5 * time.Second, DrainTimeout: time.Second,
			BackoffBase: 20 * time.Second, Logger: logger, Observers: []relay.Observer{&seen},
		}, h)
		time.Sleep(15 * time.Second)
		if n := h.peak(); n != 2 {
			t.Errorf("%d handlers at once, want 2", n)
		}
		wantStates(t, s, ids, outbox.Pending)
		if strings.Count(logged(), "did not return") != 2 || len(seen.all()) != 2 {
			t.Errorf("%d observations; the log is %s", len(seen.all()), logged())
		}
		for _, a := range seen.all() {
			if !errors.Is(a.Err, relay.ErrHandlerStuck) || !a.Recorded || a.Duration < time.Second {
				t.Errorf("told %+v", a)
			}
		}
		good := handler(t, nil)
		y := start(t, s, relay.Config{}, good)
		time.Sleep(time.Second)
		wantStates(t, s, ids[2:], outbox.Published)
		began := time.Now()
		err := x.stop()
		var stuck *relay.StuckError
		if !errors.As(err, &stuck) || !slices.Equal(stuck.Entries, ids[:2]) {
			t.Errorf("Run returned %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("Run took %v to return", took)
		}
		until(t, "the end", settled(s))
		close(release)
		y.end()
		wantStates(t, s, ids, outbox.Published)
		if len(good.seen()) != 12 || len(seen.all()) != 2 {
			t.Errorf("the second relay made %d calls; %d observations", len(good.seen()), len(seen.all()))
		}
	})
}

// TestStuckSlotComesBack: when the handler returns after all, its slot is free again.
func TestStuckSlotComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 1 && nth == 1 {
				<-release
			} else {
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		ids := publish(t, s, entries(4, unordered)...)
		x := start(t, s, relay.Config{BatchSize: 2, Concurrency: 1, DeliveryTimeout: time.Second, LeaseTimeout: 2 * time.Second}, h)
		time.Sleep(time.Minute)
		wantStates(t, s, ids, outbox.Pending)
		close(release)
		until(t, "the end", settled(s))
		publish(t, s, entries(4, unordered)...)
		x.Wake()
		time.Sleep(50 * time.Millisecond)
		if n := count(s, outbox.Processing); n < 2 {
			t.Errorf("%d entries are held: nothing is prefetched any more", n)
		}
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if r := rows(s)[1]; r.Attempt != 1 {
			t.Errorf("attempt %d, want the one that got stuck", r.Attempt)
		}
	})
}

// TestPrefetchedRowsAreNoHostages: behind slow handlers that are not stuck they go back
// from time to time, so that another relay can take them.
func TestPrefetchedRowsAreNoHostages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		slow := handler(t, func(context.Context, delivery.Envelope, int) error { <-release; return nil })
		ids := publish(t, s, entries(6, unordered)...)
		x := start(t, s, relay.Config{BatchSize: 6, Concurrency: 1, LeaseTimeout: 3 * time.Second, DeliveryTimeout: time.Hour, PollingInterval: time.Hour}, slow)
		time.Sleep(time.Second)
		quick := handler(t, nil)
		y := start(t, s, relay.Config{PollingInterval: 10 * time.Millisecond}, quick)
		time.Sleep(30 * time.Second)
		if n := len(quick.seen()); n == 0 {
			t.Error("the other relay never got anything")
		}
		for _, id := range ids {
			if r := rows(s)[id]; r.Attempt != 0 {
				t.Errorf("entry %d was charged", id)
			}
		}
		close(release)
		until(t, "the end", settled(s))
		x.end()
		y.end()
		if n := len(slow.seen()) + len(quick.seen()); n != 6 {
			t.Errorf("%d deliveries of 6 entries", n)
		}
	})
}

// TestStuckRunReleasesItsFollowers: what is behind a stuck entry goes back untouched.
func TestStuckRunReleasesItsFollowers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 2 {
				<-release
			}
			return nil
		})
		all := entries(4, same("A"))
		all[1].MaxAttempts = 1
		ids := publish(t, s, all...)
		x := start(t, s, relay.Config{DeliveryTimeout: time.Second}, h)
		h.running = map[string]int{"A": -1} // the next entry is delivered beside the stuck one
		until(t, "the end", settled(s))
		wantStates(t, s, ids, outbox.Published, outbox.DeadLetter, outbox.Published, outbox.Published)
		close(release)
		x.end()
		wantOrder(t, h, ids...)
		if r := rows(s)[3]; r.Attempt != 0 {
			t.Errorf("a follower was charged %d attempts", r.Attempt)
		}
	})
}
