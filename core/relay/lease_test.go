package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestLeaseIsRenewed: a handler may take many times the length of a lease.
func TestLeaseIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(ctx context.Context, _ delivery.Envelope, _ int) error {
			select {
			case <-time.After(20 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		ids := publish(t, s, entries(2, same("A"))...)
		cfg := relay.Config{LeaseTimeout: time.Second, DeliveryTimeout: time.Minute}
		x, y := start(t, s, cfg, h), start(t, s, cfg, h)
		end := reclaim(t, s, 100*time.Millisecond)
		until(t, "the end", settled(s))
		end()
		x.end()
		y.end()
		wantStates(t, s, ids, outbox.Published)
		wantOrder(t, h, ids...)
	})
}

// TestTailOfABatchKeepsItsLease: ten entries claimed together and handled one by one.
func TestTailOfABatchKeepsItsLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(300 * time.Millisecond); return nil })
		publish(t, s, entries(10, name("A"))...)
		cfg := relay.Config{BatchSize: 10, Concurrency: 1, LeaseTimeout: time.Second}
		x, y := start(t, s, cfg, h), start(t, s, cfg, h)
		end := reclaim(t, s, 200*time.Millisecond)
		until(t, "the end", settled(s))
		end()
		x.end()
		y.end()
		if len(h.seen()) != 10 {
			t.Errorf("%d deliveries of 10 entries", len(h.seen()))
		}
	})
}

// TestLostLease: the handler's context ends, its success is not recorded, and the entry
// is delivered again by whoever has the new lease.
func TestLostLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		ended := make(chan error, 1)
		h := handler(t, func(ctx context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 1 && nth == 1 {
				<-ctx.Done()
				ended <- ctx.Err()
			}
			return nil
		})
		lost := false
		w := &wrapped{Store: s, renew: func(ctx context.Context, next relay.Session, ids []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error) {
			if !lost {
				lost = true // as maintenance does when this node was cut off for long
				time.Sleep(d / 2)
				takeBack(t, s)
			}
			return next.Renew(ctx, ids, d)
		}}
		ids := publish(t, s, entries(3, same("A"))...)
		var seen attempts
		began := time.Now()
		x := start(t, w, relay.Config{LeaseTimeout: 3 * time.Second, DeliveryTimeout: time.Hour, Observers: []relay.Observer{&seen}}, h)
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) > 4*time.Second {
			t.Errorf("the handler's context ended with %v after %v", err, time.Since(began))
		}
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if r := rows(s)[1]; r.Attempt != 0 {
			t.Errorf("the lost delivery was charged: attempt %d", r.Attempt)
		}
		told := seen.all()
		if len(told) != 4 || told[0].Recorded || told[0].Verdict != delivery.VerdictDelivered || !told[1].Recorded {
			t.Errorf("observers were told %+v", told)
		}
	})
}

// takeBack takes every lease away, expired or not.
func takeBack(t testing.TB, s *memstore.Store) {
	t.Helper()
	session := s.Open(relay.SessionOptions{Owner: "thief"})
	var leases []relay.LeaseID
	for _, r := range s.Rows() {
		if r.Lease != 0 {
			leases = append(leases, r.Lease)
		}
	}
	if _, err := session.Renew(context.Background(), leases, -time.Hour); err != nil {
		t.Error(err)
	}
	if _, err := s.Reclaim(context.Background(), 100, 100); err != nil {
		t.Error(err)
	}
}

// TestRenewalFailsUntilTheEnd: when the lease must be taken for lost, handlers are told.
func TestRenewalFailsUntilTheEnd(t *testing.T) {
	t.Parallel()
	for kind, when := range map[string]storetest.Moment{"fails": storetest.Before, "hangs": storetest.Hang, "answer lost": storetest.After} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				told := make(chan time.Duration, 1)
				h := handler(t, func(ctx context.Context, e delivery.Envelope, nth int) error {
					began := time.Now()
					if e.ID == 1 && nth == 1 {
						<-ctx.Done()
						told <- time.Since(began)
						return ctx.Err()
					}
					return nil
				})
				flaky := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpRenew, Call: 1, Count: 1000, When: when}})
				publish(t, s, entries(3, same("A"))...)
				x := start(t, flaky, relay.Config{LeaseTimeout: 9 * time.Second, DeliveryTimeout: time.Hour}, h)
				if after := <-told; after < 9*time.Second || after > 10*time.Second {
					t.Errorf("the handler was told after %v, want the length of the lease", after)
				}
				until(t, "the end", settled(s))
				if n := flaky.Calls(storetest.OpRenew); n < 1 || n > 20 {
					t.Errorf("%d renewals", n)
				}
				x.end()
			})
		})
	}
}

// TestIdleLoopAfterALostLease: a handler that ignores the loss of its lease must not make
// the relay spin; time would then stand still here.
func TestIdleLoopAfterALostLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			if nth == 1 {
				<-release
			}
			return nil
		})
		id := publish(t, s, entryOf(""))[0]
		logger, logged := logs()
		flaky := storetest.Flaky(s, nil)
		x := start(t, flaky, relay.Config{LeaseTimeout: 3 * time.Second, DeliveryTimeout: time.Hour, Logger: logger}, h)
		time.Sleep(time.Second)
		takeBack(t, s)
		until(t, "the other delivery", func() bool { return rows(s)[id].State == outbox.Published })
		time.Sleep(time.Minute)
		renewals := flaky.Calls(storetest.OpRenew)
		time.Sleep(time.Minute)
		if n := flaky.Calls(storetest.OpRenew); n != renewals {
			t.Errorf("%d renewals of a lost lease in a minute", n-renewals)
		}
		close(release)
		synctest.Wait()
		x.end()
		if n := strings.Count(logged(), "lease lost"); n != 1 {
			t.Errorf("%d lines about one lost lease", n)
		}
	})
}

// TestSuspectsGoAlone: entries that were lost by claim after claim are delivered with
// nothing else under way, one at a time.
func TestSuspectsGoAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		suspects := publish(t, s, entries(3, unordered)...)
		run := publish(t, s, entries(2, same("A"))...)
		loseClaims(t, s, 2)
		good := publish(t, s, entries(10, unordered)...)
		var h *recorder
		h = handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			time.Sleep(10 * time.Millisecond)
			h.mu.Lock()
			defer h.mu.Unlock()
			if e.ID <= run[1] && h.now != 1 {
				t.Errorf("suspect %d is delivered beside %d others", e.ID, h.now-1)
			}
			if e.ID == run[0] && nth == 1 {
				return errors.New("no") // no suspect any more, but the one behind it is
			}
			return nil
		})
		logger, logged := logs()
		x := start(t, s, relay.Config{Logger: logger, BackoffBase: 10 * time.Millisecond}, h)
		began := time.Now()
		until(t, "the end", settled(s))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		x.end()
		wantStates(t, s, append(append(suspects, run...), good...), outbox.Published)
		if len(h.seen()) != 16 {
			t.Errorf("%d calls", len(h.seen()))
		}
		if n := strings.Count(logged(), "delivered alone"); n != 6 {
			t.Errorf("%d suspects are in the log", n)
		}
	})
}

// loseClaims lets all entries be claimed and lost, some times over.
func loseClaims(t testing.TB, s *memstore.Store, times int) {
	t.Helper()
	for range times {
		w := &wrapped{Store: s, settle: func(context.Context, relay.Session, []relay.Outcome, []relay.LeaseID) ([]bool, error) {
			return nil, errors.New("crashed")
		}}
		r := newRelay(t, w, relay.Config{LeaseTimeout: relay.MinLeaseTimeout}, handler(t, nil))
		if _, err := r.RunOnce(context.Background(), 50); err != nil {
			t.Fatal(err)
		}
		takeBack(t, s)
	}
}

// TestSuspectNeverReturns: it is given up like any other, and the rest is delivered.
func TestSuspectNeverReturns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		bad := publish(t, s, entryOf(""))[0]
		loseClaims(t, s, 2)
		good := publish(t, s, entries(5, unordered)...)
		release := make(chan struct{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.ID == bad {
				<-release
			}
			return nil
		})
		x := start(t, s, relay.Config{DeliveryTimeout: time.Second, BackoffBase: time.Hour, BackoffMax: time.Hour}, h)
		time.Sleep(10 * time.Second)
		wantStates(t, s, good, outbox.Published)
		if r := rows(s)[bad]; r.State != outbox.Pending || r.Attempt != 1 {
			t.Errorf("the suspect is %s with attempt %d", r.State, r.Attempt)
		}
		close(release)
		x.end()
	})
}
