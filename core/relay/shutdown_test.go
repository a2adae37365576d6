package relay_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestStopDrains: handlers under way finish and are recorded, what was claimed and not
// started goes back at once and untouched, and the registry forgets the relay.
func TestStopDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(ctx context.Context, _ delivery.Envelope, _ int) error {
			time.Sleep(500 * time.Millisecond)
			return ctx.Err() // not cancelled with the context of Run
		})
		ids := publish(t, s, append(entries(10, unordered), entries(3, same("A"))...)...)
		var seen attempts
		x := start(t, s, relay.Config{Concurrency: 5, DrainTimeout: 2 * time.Second, Observers: []relay.Observer{&seen}}, h)
		time.Sleep(100 * time.Millisecond)
		if got := s.Relays(); len(got) != 1 || got[0] != x.Owner() {
			t.Errorf("the registry holds %v", got)
		}
		began := time.Now()
		x.cancel()
		time.Sleep(5 * time.Millisecond)
		if n := count(s, outbox.Processing); n != 5 {
			t.Errorf("%d entries are held, want the 5 that are being delivered", n)
		}
		if err := <-x.done; err != nil || time.Since(began) > 450*time.Millisecond {
			t.Errorf("Run returned %v after %v", err, time.Since(began))
		}
		if n := count(s, outbox.Published); n != 5 || len(seen.all()) != 5 {
			t.Errorf("%d published, %d observed", n, len(seen.all()))
		}
		for _, id := range ids {
			if r := rows(s)[id]; r.State == outbox.Pending && (r.Attempt != 0 || r.Claims != 0 || r.Due().After(time.Now())) {
				t.Errorf("entry %d was touched: %+v", id, r)
			}
		}
		if count(s, outbox.Processing) != 0 || len(s.Relays()) != 0 {
			t.Errorf("%d entries held, registry %v", count(s, outbox.Processing), s.Relays())
		}
	})
}

// TestStopInTheMiddleOfARun: the entry under way is recorded, its followers go back.
func TestStopInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	for kind, batch := range map[string]bool{"one by one": false, "batches": true} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(100 * time.Millisecond); return nil })
				ids := publish(t, s, entries(5, same("A"))...)
				var with delivery.Handler = h
				if batch {
					with = &batcher{recorder: h}
				}
				x := start(t, s, relay.Config{}, with)
				time.Sleep(150 * time.Millisecond)
				x.end()
				wantStates(t, s, ids, outbox.Published, outbox.Published, outbox.Pending)
				for _, id := range ids[2:] {
					if r := rows(s)[id]; r.Attempt != 0 || r.Claims != 0 {
						t.Errorf("entry %d was touched", id)
					}
				}
			})
		})
	}
}

// TestLeasesAreRenewedWhileStopping: what takes longer than a lease is recorded still.
func TestLeasesAreRenewedWhileStopping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(6 * time.Second); return nil })
		ids := publish(t, s, entries(2, unordered)...)
		x := start(t, s, relay.Config{LeaseTimeout: time.Second}, h)
		end := reclaim(t, s, 100*time.Millisecond)
		time.Sleep(500 * time.Millisecond)
		x.end()
		end()
		wantStates(t, s, ids, outbox.Published)
	})
}

// TestDrainTimeout: then contexts end, and what comes of that is recorded.
func TestDrainTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(ctx context.Context, _ delivery.Envelope, _ int) error { <-ctx.Done(); return ctx.Err() })
		ids := publish(t, s, entries(2, unordered)...)
		x := start(t, s, relay.Config{DrainTimeout: 3 * time.Second, BackoffBase: time.Second, DeliveryTimeout: time.Hour}, h)
		time.Sleep(time.Second)
		began := time.Now()
		x.end()
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("Run returned after %v, want the drain time", took)
		}
		wantStates(t, s, ids, outbox.Pending)
		if r := rows(s)[1]; r.Attempt != 1 || r.LastError != context.Canceled.Error() {
			t.Errorf("attempt %d, error %q", r.Attempt, r.LastError)
		}
	})
}

// TestStopWithAHandlerThatIgnoresIt: Run returns by its deadline and names the entry.
func TestStopWithAHandlerThatIgnoresIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 2 && nth == 1 {
				<-release
			}
			return nil
		})
		ids := publish(t, s, entries(3, unordered)...)
		r := newRelay(t, s, relay.Config{DrainTimeout: time.Second, LeaseTimeout: 3 * time.Second}, h)
		x := run(t, r)
		time.Sleep(time.Second)
		began := time.Now()
		err := x.stop()
		var stuck *relay.StuckError
		if !errors.As(err, &stuck) || len(stuck.Entries) != 1 || stuck.Entries[0] != ids[1] || stuck.Error() == "" {
			t.Errorf("Run returned %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("Run took %v", took)
		}
		// Its entry comes back with the lease, also to this very relay.
		end := reclaim(t, s, time.Second)
		x = run(t, r)
		until(t, "the end", settled(s))
		end()
		close(release)
		x.end()
		wantStates(t, s, ids, outbox.Published)
	})
}

// TestStopDuringAClaim: what a late answer brings goes back.
func TestStopDuringAClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				t.Error("the claim's context ended with Run's")
			}
			return next.Claim(ctx, req)
		}}
		ids := publish(t, s, entries(3, same("A"))...)
		h := handler(t, nil)
		x := start(t, w, relay.Config{}, h)
		time.Sleep(500 * time.Millisecond)
		x.end()
		wantStates(t, s, ids, outbox.Pending)
		if r := rows(s)[1]; r.Claims != 0 || len(h.seen()) != 0 {
			t.Errorf("%d claims, %d calls", r.Claims, len(h.seen()))
		}
	})
}

// TestStopWithoutAStore: with a store that fails or hangs Run returns all the same, and
// the observers have been told of every attempt.
func TestStopWithoutAStore(t *testing.T) {
	t.Parallel()
	for kind, when := range map[string]storetest.Moment{"fails": storetest.Before, "hangs": storetest.Hang} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				var plan storetest.Plan
				for _, op := range []storetest.Op{storetest.OpSettle, storetest.OpRenew, storetest.OpRetire} {
					plan = append(plan, storetest.Fault{Op: op, Call: 1, Count: 1000, When: when})
				}
				var seen attempts
				publish(t, s, entries(5, unordered)...)
				h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
					time.Sleep(time.Duration(e.ID) * 100 * time.Millisecond)
					return nil
				})
				x := start(t, storetest.Flaky(s, plan), relay.Config{DrainTimeout: 2 * time.Second, Observers: []relay.Observer{&seen}}, h)
				time.Sleep(250 * time.Millisecond)
				began := time.Now()
				x.end()
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("Run took %v", took)
				}
				if len(seen.all()) != 5 || seen.all()[0].Recorded {
					t.Errorf("observers were told %+v", seen.all())
				}
			})
		})
	}
}

// TestRetireComesLast: an advertisement under way must not put the relay back.
func TestRetireComesLast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		x := start(t, slowRegistry{s}, relay.Config{}, handler(t, nil))
		time.Sleep(time.Second) // the first advertisement is on its way
		x.end()
		synctest.Wait()
		if got := s.Relays(); len(got) != 0 {
			t.Errorf("the registry still holds %v", got)
		}
	})
}

// slowRegistry takes three seconds for an advertisement, cancelled or not.
type slowRegistry struct{ *memstore.Store }

func (s slowRegistry) Open(o relay.SessionOptions) relay.Session {
	inner := s.Store.Open(o)
	return struct {
		relay.Session
		relay.Registrar
	}{inner, slowRegistrar{inner.(relay.Registrar)}}
}

type slowRegistrar struct{ relay.Registrar }

func (s slowRegistrar) Advertise(ctx context.Context, ad relay.Advertisement) (int, error) {
	time.Sleep(3 * time.Second)
	return s.Registrar.Advertise(context.WithoutCancel(ctx), ad) // it is on its way
}

// TestRunTwice at a time is refused; one after the other is fine.
func TestRunTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, nil)
		r := newRelay(t, s, relay.Config{}, h)
		x := run(t, r)
		synctest.Wait()
		if err := r.Run(t.Context()); !errors.Is(err, relay.ErrRunning) {
			t.Errorf("Run while it runs: %v", err)
		}
		if _, err := r.RunOnce(t.Context(), 1); !errors.Is(err, relay.ErrRunning) {
			t.Errorf("RunOnce while it runs: %v", err)
		}
		if _, err := r.Drain(t.Context()); !errors.Is(err, relay.ErrRunning) {
			t.Errorf("Drain while it runs: %v", err)
		}
		x.end()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run with a context that has ended: %v", err)
		}
		publish(t, s, entryOf(""))
		x = run(t, r)
		until(t, "the end", settled(s))
		x.end()
	})
}

// TestStartStopCycles counts goroutines, in real time.
func TestStartStopCycles(t *testing.T) {
	s := memstore.New(memstore.Config{})
	r := newRelay(t, s, relay.Config{Waker: s.Waker(), Concurrency: 4}, handler(t, nil))
	before := runtime.NumGoroutine()
	for range 50 {
		publish(t, s, entries(20, name("A"))...)
		x := run(t, r)
		time.Sleep(2 * time.Millisecond)
		x.end()
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before 50 runs, %d after", before, after)
	}
	if n := count(s, outbox.Processing); n != 0 || len(s.Relays()) != 0 {
		t.Errorf("%d entries are held after all, registry %v", n, s.Relays())
	}
}
