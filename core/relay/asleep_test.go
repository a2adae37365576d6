package relay_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
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
		w := &watched{Store: memstore.New(memstore.Config{})}
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
		// Dry looks 3.5, 7, 14, 28 and 56 ms apart, one at the registration, two 50 ms apart.
		if want := []time.Duration{0, 3, 10, 24, 52, 108, 108, 158, 208}; !slices.Equal(at, want) {
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
		s := memstore.New(memstore.Config{})
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
		s := memstore.New(memstore.Config{})
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

// TestRegistryFails: the relay polls, tells the log now and then, and registers later.
func TestRegistryFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
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
