package relay_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestFailingClaims: claims are tried again at growing intervals, with few lines in the
// log, whatever the failure; what a lost answer had claimed returns with its lease.
func TestFailingClaims(t *testing.T) {
	t.Parallel()
	for kind, plan := range map[string]storetest.Plan{
		"error":       {{Op: storetest.OpClaim, Call: 1, Count: 6}},
		"answer lost": {{Op: storetest.OpClaim, Call: 1, Count: 6, When: storetest.After}},
		"hangs":       {{Op: storetest.OpClaim, Call: 1, Count: 2, When: storetest.Hang}},
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				flaky := storetest.Flaky(s, plan)
				ids := publish(t, s, entries(3, unordered)...)
				logger, logged := logs()
				h := handler(t, nil)
				x := start(t, flaky, relay.Config{LeaseTimeout: 5 * time.Second, StoreTimeout: 3 * time.Second, Logger: logger}, h)
				end := reclaim(t, s, time.Second)
				began := time.Now()
				until(t, "the end", settled(s))
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("recovery took %v", took)
				}
				end()
				x.end()
				wantStates(t, s, ids, outbox.Published)
				if len(h.seen()) != 3 {
					t.Errorf("%d calls", len(h.seen()))
				}
				if n := strings.Count(logged(), `msg="claim failed"`); n != plan[0].Count {
					t.Errorf("%d lines about %d failures", n, plan[0].Count)
				}
			})
		})
	}
}

// TestDownStoreIsNotHammered counts the claims of a long outage, with hints coming in.
func TestDownStoreIsNotHammered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		flaky := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpClaim, Call: 1, Count: 1 << 30}})
		x := start(t, flaky, relay.Config{Waker: s.Waker()}, handler(t, nil))
		for range 600 {
			time.Sleep(100 * time.Millisecond)
			publish(t, s, entryOf(""))
			x.Wake()
		}
		x.end()
		if n := flaky.Calls(storetest.OpClaim); n < 10 || n > 30 {
			t.Errorf("%d claims in a minute without a store", n)
		}
	})
}

// TestClaimPanics also covers an answer that makes no sense.
func TestClaimPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		n := 0
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			switch n++; n {
			case 1:
				panic("secret")
			case 2:
				panic(nil)
			case 3:
				return relay.Batch{More: true}, nil // nothing, but there is more
			}
			return next.Claim(ctx, req)
		}}
		ids := publish(t, s, entryOf(""))
		logger, logged := logs()
		x := start(t, w, relay.Config{Logger: logger}, handler(t, nil))
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
		if strings.Contains(logged(), "secret") {
			t.Errorf("the log is %s", logged())
		}
	})
}

// TestWrongRecords: what was not asked for goes back untouched and undelivered, and the
// store is not asked again at once.
func TestWrongRecords(t *testing.T) {
	t.Parallel()
	for kind, alter := range map[string]func(*relay.ClaimRequest){
		"too many": func(r *relay.ClaimRequest) { r.Limit = 100 },
		"out of scope": func(r *relay.ClaimRequest) {
			r.Scope, _ = claim.Resolve(claim.Capabilities{"OTHER": claim.All(), "T": claim.All()})
		},
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				claims := 0
				w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
					claims++
					alter(&req)
					return next.Claim(ctx, req)
				}}
				all := entries(20, unordered)
				for i := range 10 {
					if kind == "out of scope" {
						all[i].DestinationType = "OTHER"
					}
				}
				ids := publish(t, s, all...)
				logger, logged := logs()
				h := handler(t, nil)
				x := start(t, w, relay.Config{BatchSize: 5, Logger: logger, Observers: []relay.Observer{relay.ObserverFunc(
					func(_ context.Context, a relay.Attempt) {
						if a.Envelope.DestinationType != "T" {
							t.Error("an attempt at a refused entry")
						}
					})}}, h)
				time.Sleep(10 * time.Second)
				x.end()
				if !strings.Contains(logged(), "not asked for") || claims > 100 {
					t.Errorf("%d claims; the log is %.1000s", claims, logged())
				}
				for i, id := range ids {
					r, want := rows(s)[id], outbox.Published
					if all[i].DestinationType == "OTHER" {
						want = outbox.Pending
					}
					if r.State != want || r.Attempt != 0 || r.Claims != 0 {
						t.Errorf("entry %d is %s, attempt %d, claims %d", id, r.State, r.Attempt, r.Claims)
					}
				}
				if len(h.seen()) != count(s, outbox.Published) {
					t.Errorf("%d calls", len(h.seen()))
				}
			})
		})
	}
}

// TestBadSupplier: the whole cycle is given up, for all types, and the next ones go on.
func TestBadSupplier(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("secret", 100)
	for kind, bad := range map[string]func() []string{
		"panic":  func() []string { panic("secret") },
		"nil":    func() []string { return nil },
		"blank":  func() []string { return []string{"secret", " "} },
		"long":   func() []string { return []string{long} },
		"many":   func() []string { return slices.Repeat([]string{"secret"}, claim.MaxTargets+1) },
		"goexit": func() []string { runtime.Goexit(); return nil },
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				var calls atomic.Int32
				from := time.Now().Add(time.Minute)
				other := handlerOf(t, "OTHER", nil)
				other.to = claim.Targets(func() []string {
					calls.Add(1)
					if time.Now().Before(from) {
						return bad()
					}
					return []string{"d"}
				})
				h := handler(t, nil)
				mixed := entries(2, unordered)
				mixed[1].DestinationType = "OTHER"
				ids := publish(t, s, mixed...)
				logger, logged := logs()
				x := start(t, s, relay.Config{Logger: logger}, h, other)
				time.Sleep(59 * time.Second)
				wantStates(t, s, ids, outbox.Pending)
				if n := calls.Load(); n < 10 || n > 130 {
					t.Errorf("the supplier was asked %d times in a minute", n)
				}
				until(t, "the end", settled(s))
				x.end()
				if strings.Contains(logged(), "secret") || !strings.Contains(logged(), "claim failed") {
					t.Errorf("the log is %s", logged())
				}
			})
		})
	}
}

// TestBadSupplierEndsRunOnce: who asked for one cycle is told.
func TestBadSupplierEndsRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, nil)
		h.to = claim.Targets(func() []string { return nil })
		publish(t, s, entryOf(""))
		r := newRelay(t, s, relay.Config{}, h)
		_, once := r.RunOnce(t.Context(), 10)
		_, drain := r.Drain(t.Context())
		for _, err := range []error{once, drain} {
			var scope *claim.Error
			if !errors.As(err, &scope) || scope.Type != "T" || scope.Reason != claim.NilSet {
				t.Errorf("the error is %v", err)
			}
		}
	})
}

// TestScopeChanges: an empty set claims nothing and asks the store nothing; the set may
// grow while the relay runs.
func TestScopeChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		flaky := storetest.Flaky(s, nil)
		from := time.Now().Add(time.Minute)
		h := handler(t, nil)
		h.to = claim.Targets(func() []string {
			if time.Now().Before(from) {
				return []string{}
			}
			return []string{"d"}
		})
		all := entries(2, unordered)
		all[1].Destination = "elsewhere"
		ids := publish(t, s, all...)
		x := start(t, flaky, relay.Config{}, h)
		time.Sleep(59 * time.Second)
		if n := flaky.Calls(storetest.OpClaim); n != 0 {
			t.Errorf("%d claims with an empty scope", n)
		}
		time.Sleep(10 * time.Second)
		x.end()
		wantStates(t, s, ids, outbox.Published, outbox.Pending)
	})
}

// TestNoHandlers: a relay without handlers claims nothing and stops cleanly.
func TestNoHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		ids := publish(t, s, entryOf(""))
		x := start(t, s, relay.Config{})
		time.Sleep(time.Minute)
		x.end()
		wantStates(t, s, ids, outbox.Pending)
	})
}
