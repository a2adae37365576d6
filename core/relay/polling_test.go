package relay_test

import (
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

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
		s := memstore.New(memstore.Config{})
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
		flaky := storetest.Flaky(memstore.New(memstore.Config{}), nil)
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
