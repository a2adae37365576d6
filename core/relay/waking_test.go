package relay_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// watched is a store that notes when it is asked for entries, and what the relay says of
// itself.
type watched struct {
	relay.Store
	mu     sync.Mutex
	claims []time.Time
	ads    []relay.Advertisement
	adsAt  []time.Time
	onAd   func(ad relay.Advertisement) error
}

func (w *watched) Open(o relay.SessionOptions) relay.Session {
	inner := w.Store.Open(o)
	return watchedSession{inner, inner.(relay.Registrar), w}
}

type watchedSession struct {
	relay.Session
	relay.Registrar
	w *watched
}

func (s watchedSession) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	s.w.mu.Lock()
	s.w.claims = append(s.w.claims, time.Now())
	s.w.mu.Unlock()
	return s.Session.Claim(ctx, req)
}

func (s watchedSession) Advertise(ctx context.Context, ad relay.Advertisement) (int, error) {
	s.w.mu.Lock()
	s.w.ads, s.w.adsAt = append(s.w.ads, ad), append(s.w.adsAt, time.Now())
	s.w.mu.Unlock()
	if s.w.onAd != nil {
		if err := s.w.onAd(ad); err != nil {
			return 0, err
		}
	}
	return s.Registrar.Advertise(ctx, ad)
}

func (w *watched) seen() (claims []time.Time, ads []relay.Advertisement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.claims), slices.Clone(w.ads)
}

// TestAdaptiveLooks: a relay that runs dry looks at growing intervals, registers as
// asleep, looks again, and then leaves the store in peace.
func TestAdaptiveLooks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := &watched{Store: memstore.New(memstore.Options{})}
		h := handler(t, nil)
		other := handlerOf(t, "OTHER", nil)
		other.to = claim.Targets(func() []string { return []string{"x", "a"} })
		began := time.Now()
		x := start(t, w, relay.Config{PollingInterval: time.Hour}, h, other)
		time.Sleep(10 * time.Minute)
		claims, ads := w.seen()
		var at []time.Duration
		for _, c := range claims {
			at = append(at, c.Sub(began)/time.Millisecond)
		}
		// Dry looks 5, 10, 20 and 40 ms apart, one at the registration, two 50 ms apart.
		if want := []time.Duration{0, 5, 15, 35, 75, 75, 125, 175}; !slices.Equal(at, want) {
			t.Errorf("looks after %v ms, want %v", at, want)
		}
		if len(ads) < 100 || len(ads) > 150 {
			t.Errorf("%d advertisements in ten minutes", len(ads))
		}
		if ads[0].Asleep || !ads[1].Asleep || string(ads[1].Scopes["T"]) != `"*"` || string(ads[1].Scopes["OTHER"]) != `["a","x"]` || ads[1].Stale < 10*time.Second {
			t.Errorf("advertised %+v, then %+v", ads[0], ads[1])
		}
		x.end()
	})
}

// TestWokenRelayIsAwake: it says so when it finds something, and goes to sleep again.
func TestWokenRelayIsAwake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		w := &watched{Store: s}
		x := start(t, w, relay.Config{PollingInterval: time.Hour, Waker: s.Waker()}, handler(t, nil))
		time.Sleep(time.Second)
		publish(t, s, entryOf(""))
		time.Sleep(time.Second)
		_, ads := w.seen()
		x.end()
		var asleep []bool
		for _, ad := range ads {
			asleep = append(asleep, ad.Asleep)
		}
		if want := []bool{false, true, false, true}; !slices.Equal(asleep, want) {
			t.Errorf("asleep %v, want %v", asleep, want)
		}
	})
}

// TestCommitWhileFallingAsleep: an entry that is committed before the registration was
// visible gets no notification; the looks that follow find it.
func TestCommitWhileFallingAsleep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		w := &watched{Store: s}
		asked := false
		w.onAd = func(ad relay.Advertisement) error {
			if ad.Asleep && !asked {
				asked = true
				publish(t, s, entryOf(""))
				time.Sleep(300 * time.Millisecond) // a slow commit of the registration
			}
			return nil
		}
		x := start(t, w, relay.Config{PollingInterval: time.Hour}, handler(t, nil))
		time.Sleep(2 * time.Second)
		x.end()
		if n := count(s, outbox.Published); n != 1 {
			t.Error("the entry waits for the next poll")
		}
	})
}

// TestHints: a commit is found at once by a sleeping relay, through the waker and through
// Wake, and a burst of hints without entries does no harm.
func TestHints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		for _, byWaker := range []bool{true, false} {
			cfg := relay.Config{PollingInterval: time.Hour}
			if byWaker {
				cfg.Waker = s.Waker()
			}
			w := &watched{Store: s}
			h := handler(t, nil)
			x := start(t, w, cfg, h)
			time.Sleep(time.Minute)
			at := time.Now()
			id := publish(t, s, entryOf(""))[0]
			if !byWaker {
				time.Sleep(10 * time.Second)
				if len(h.seen()) != 0 {
					t.Error("without a hint the entry was found before the poll")
				}
				at = time.Now()
				x.Wake()
				x.Wake() // hints coalesce
			}
			time.Sleep(time.Second)
			if calls := h.of(id); len(calls) != 1 || calls[0].Start.Sub(at) > time.Millisecond {
				t.Errorf("waker %v: the calls after a hint at %v are %+v", byWaker, at, calls)
			}
			before, _ := w.seen()
			for range 1000 {
				x.Wake()
				time.Sleep(time.Millisecond)
			}
			if after, _ := w.seen(); len(after)-len(before) > 300 {
				t.Errorf("1000 hints made %d claims", len(after)-len(before))
			}
			x.end()
		}
	})
}

// subscriptions is a waker that counts.
type subscriptions struct{ now, total int }

func (s *subscriptions) Subscribe() (<-chan struct{}, func()) {
	s.now++
	s.total++
	return make(chan struct{}), func() { s.now-- }
}

// TestPollingNeedsNothing: no registry, no subscription, no look ahead; one look per interval.
func TestPollingNeedsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		flaky := storetest.Flaky(s, nil)
		var waker subscriptions
		future := entryOf("")
		future.ScheduledAt = time.Now().Add(90 * time.Second)
		publish(t, s, future)
		x := start(t, flaky, relay.Config{Strategy: relay.Polling, PollingInterval: 10 * time.Second, Waker: &waker}, handler(t, nil))
		time.Sleep(80 * time.Second)
		if n := flaky.Calls(storetest.OpClaim); n < 8 || n > 10 {
			t.Errorf("%d claims in 80 s", n)
		}
		time.Sleep(20 * time.Second)
		x.end()
		if n := flaky.Calls(storetest.OpAdvertise) + flaky.Calls(storetest.OpRetire) + flaky.Calls(storetest.OpNextDue) + waker.total; n != 0 {
			t.Errorf("%d calls that POLLING does without", n)
		}
		if count(s, outbox.Published) != 1 {
			t.Error("the scheduled entry was not found")
		}
	})
}

// TestSubscriptionEnds with Run, and RunOnce and Drain need none.
func TestSubscriptionEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var waker subscriptions
		flaky := storetest.Flaky(memstore.New(memstore.Options{}), nil)
		r := newRelay(t, flaky, relay.Config{Waker: &waker}, handler(t, nil))
		x := run(t, r)
		time.Sleep(time.Second)
		x.end()
		if waker.total != 1 || waker.now != 0 {
			t.Errorf("%d subscriptions were made, %d are left", waker.total, waker.now)
		}
		before := flaky.Calls(storetest.OpAdvertise)
		if _, err := r.RunOnce(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if _, err := r.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if waker.total != 1 || flaky.Calls(storetest.OpAdvertise) != before {
			t.Error("RunOnce or Drain subscribed or advertised")
		}
	})
}

// TestExactWakes: with a polling interval of an hour, everything that becomes due is
// delivered within milliseconds.
func TestExactWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			switch {
			case e.ID == 3 && nth == 1:
				time.Sleep(3 * time.Second) // longer than it takes to fall asleep
				return delivery.RetryAfter(nil, 20*time.Second)
			case e.ID == 4 && nth == 1:
				return delivery.Unresolvable(nil)
			}
			return nil
		})
		began := time.Now()
		all := entries(4, unordered)
		all[0].ScheduledAt = began.Add(time.Minute)
		all[1].ScheduledAt = began.Add(time.Minute + time.Second)
		publish(t, s, all...)
		x := start(t, s, relay.Config{PollingInterval: time.Hour, UnresolvableDelay: 10 * time.Second}, h)
		time.Sleep(2 * time.Minute)
		x.end()
		for id, want := range map[outbox.ID]time.Duration{1: time.Minute, 2: 61 * time.Second, 3: 23 * time.Second, 4: 10 * time.Second} {
			calls := h.of(id)
			if len(calls) == 0 {
				t.Fatalf("entry %d was not delivered", id)
			}
			got := calls[len(calls)-1].Start.Sub(began)
			if low := want; got > want+20*time.Millisecond || id != 4 && got < low || id == 4 && got < 7*time.Second {
				t.Errorf("entry %d was delivered after %v, want %v", id, got, want)
			}
		}
	})
}

// TestSuccessorGoesAtOnce although the claim took only its head.
func TestSuccessorGoesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, strategy := range []relay.Strategy{relay.ListenNotify, relay.Polling} {
			s := memstore.New(memstore.Options{})
			h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(2 * time.Second); return nil })
			publish(t, s, entries(10, same("A"))...)
			x := start(t, s, relay.Config{Strategy: strategy, RunLength: 1, PollingInterval: 30 * time.Second}, h)
			began := time.Now()
			until(t, "the end", settled(s))
			x.end()
			if took := h.seen()[9].End.Sub(began); took > 20*time.Second+500*time.Millisecond {
				t.Errorf("%s: ten entries of 2 s one after another took %v", strategy, took)
			}
		}
	})
}

// TestBacklogFollowsAtOnce: one batch per polling interval would take minutes.
func TestBacklogFollowsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		publish(t, s, entries(1000, name("A"))...)
		publish(t, s, entries(100, same("B"))...)
		x := start(t, s, relay.Config{BatchSize: 10, Strategy: relay.Polling}, handler(t, nil))
		began := time.Now()
		until(t, "the end", settled(s))
		if took := time.Since(began); took > time.Second {
			t.Errorf("1100 entries took %v", took)
		}
		x.end()
	})
}

// TestHintDuringAClaim: the claim may have passed the entry already, so another follows.
func TestHintDuringAClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		began := time.Now()
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			batch, err := next.Claim(ctx, req)
			if time.Since(began) > 59*time.Second && len(batch.Records) == 0 {
				time.Sleep(time.Second) // the answer is long under way
			}
			return batch, err
		}}
		h := handler(t, nil)
		x := start(t, w, relay.Config{PollingInterval: time.Hour}, h)
		time.Sleep(time.Minute)
		x.Wake()
		time.Sleep(500 * time.Millisecond)
		publish(t, s, entryOf(""))
		x.Wake()
		time.Sleep(time.Second)
		if len(h.seen()) != 1 {
			t.Error("the hint was lost")
		}
		x.end()
	})
}

// TestRegistryFails: the relay polls, tells the log now and then, and registers later.
func TestRegistryFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		flaky := storetest.Flaky(s, storetest.Plan{{Op: storetest.OpAdvertise, Call: 1, Count: 15}})
		h := handler(t, nil)
		x := start(t, flaky, relay.Config{PollingInterval: 2 * time.Second}, h)
		time.Sleep(20 * time.Second)
		id := publish(t, s, entryOf(""))[0]
		at := time.Now()
		until(t, "the entry", settled(s))
		if took := h.of(id)[0].Start.Sub(at); took > 2*time.Second {
			t.Errorf("the entry was found after %v", took)
		}
		if n := flaky.Calls(storetest.OpAdvertise); n > 15 {
			t.Errorf("%d advertisements to a registry that fails", n)
		}
		time.Sleep(time.Minute)
		if len(s.Relays()) != 1 {
			t.Error("the relay did not register when it could")
		}
		x.end()
	})
}
