package relay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestRunOnce makes one claim, and the number it returns is that of attempts.
func TestRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		flaky := storetest.Flaky(s, nil)
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.ID == 2 {
				return errors.New("no")
			}
			return nil
		})
		publish(t, s, append(entries(4, same("A")), entries(3, unordered)...)...)
		r := newRelay(t, flaky, relay.Config{BackoffBase: time.Hour, BackoffMax: time.Hour}, h)
		for i, c := range []struct{ limit, attempts, published int }{
			{2, 2, 2}, // heads first: entry 1 and one without an aggregate
			{100, 3, 4},
			{1, 0, 4},
		} {
			n, err := r.RunOnce(t.Context(), c.limit)
			if n != c.attempts || err != nil || count(s, outbox.Published) != c.published {
				t.Errorf("call %d: %d attempts, %v, %d published", i, n, err, count(s, outbox.Published))
			}
			if got := flaky.Calls(storetest.OpClaim); got != i+1 {
				t.Errorf("%d claims after call %d", got, i)
			}
			if got := count(s, outbox.Processing); got != 0 {
				t.Errorf("%d entries are held after call %d", got, i)
			}
		}
		for _, limit := range []int{0, -1, relay.MaxBatchSize + 1} {
			if _, err := r.RunOnce(t.Context(), limit); !fault.IsInvalid(err) {
				t.Errorf("a limit of %d: %v", limit, err)
			}
		}
	})
}

// TestRunOnceTakesItsLimit: the limit is the caller's, and no other setting cuts it.
func TestRunOnceTakesItsLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for what, c := range map[string]struct {
			cfg relay.Config
			key func(int) string
		}{
			"unordered":     {relay.Config{BatchSize: 3}, unordered},
			"one aggregate": {relay.Config{BatchSize: 3, RunLength: relay.MaxBatchSize}, same("A")},
			"two slots":     {relay.Config{BatchSize: 3, Concurrency: 2, Prefetch: 1}, unordered},
		} {
			s := memstore.New(memstore.Config{})
			flaky := storetest.Flaky(s, nil)
			publish(t, s, entries(120, c.key)...)
			n, err := newRelay(t, flaky, c.cfg, handler(t, nil)).RunOnce(t.Context(), 100)
			if n != 100 || err != nil || count(s, outbox.Published) != 100 || flaky.Calls(storetest.OpClaim) != 1 {
				t.Errorf("%s: %d attempts, %v, %d published, %d claims", what, n, err, count(s, outbox.Published), flaky.Calls(storetest.OpClaim))
			}
		}
	})
}

// TestDrain delivers all that is due and nothing else.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			time.Sleep(10 * time.Millisecond)
			switch {
			case e.ID == 5 && nth == 1:
				return errors.New("no")
			case e.ID == 6:
				return delivery.Permanent(errors.New("no"))
			}
			return nil
		})
		all := entries(100, func(i int) string { return name("A")(i % 10) })
		all[99].ScheduledAt = time.Now().Add(time.Hour)
		all[98].DestinationType = "OTHER"
		ids := publish(t, s, all...)
		r := newRelay(t, s, relay.Config{BatchSize: 7, RunLength: 2, BackoffBase: time.Minute}, h)
		began := time.Now()
		n, err := r.Drain(t.Context())
		if err != nil || n != 89 {
			t.Errorf("Drain made %d attempts, %v", n, err) // 100, less 9 behind entry 5, less two
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("Drain waited %v", took)
		}
		if got := count(s, outbox.Pending); got != 12 {
			t.Errorf("%d entries are pending", got)
		}
		if n, err := r.Drain(t.Context()); n != 0 || err != nil {
			t.Errorf("another Drain made %d attempts, %v", n, err)
		}
		time.Sleep(2 * time.Minute)
		if n, err := r.Drain(t.Context()); n != 10 || err != nil {
			t.Errorf("Drain after the backoff made %d attempts, %v", n, err)
		}
		wantStates(t, s, ids[98:], outbox.Pending)
	})
}

// TestDrainFollowsItself: entries that handlers publish while it drains are drained too.
func TestDrainFollowsItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			time.Sleep(time.Second)
			if e.ID < 20 {
				publish(t, s, entryOf("A"))
			}
			return nil
		})
		publish(t, s, entryOf("A"))
		n, err := newRelay(t, s, relay.Config{}, h).Drain(t.Context())
		if n != 20 || err != nil {
			t.Errorf("Drain made %d attempts, %v", n, err)
		}
	})
}

// TestDrainWithADeadDestination comes to an end.
func TestDrainWithADeadDestination(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := downUntil(t, time.Now().Add(time.Hour))
		all := entries(20, unordered)
		all[19].Destination = "up"
		ids := publish(t, s, all...)
		began := time.Now()
		n, err := newRelay(t, s, relay.Config{Concurrency: 2}, h).Drain(t.Context())
		if err != nil || n < 2 || time.Since(began) > time.Minute {
			t.Errorf("Drain made %d attempts in %v, %v", n, time.Since(began), err)
		}
		wantStates(t, s, ids[18:], outbox.Pending, outbox.Published)
	})
}

// TestInterrupted: who cancels RunOnce or Drain is told, and finds everything in order.
func TestInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(time.Second); return nil })
		publish(t, s, entries(10, unordered)...)
		r := newRelay(t, s, relay.Config{Concurrency: 2}, h)
		for what, call := range map[string]func(context.Context) (int, error){
			"RunOnce": func(ctx context.Context) (int, error) { return r.RunOnce(ctx, 10) }, "Drain": r.Drain,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			n, err := call(ctx)
			cancel()
			if n != 2 || !errors.Is(err, context.DeadlineExceeded) || count(s, outbox.Processing) != 0 {
				t.Errorf("%s: %d attempts, %v, %d held", what, n, err, count(s, outbox.Processing))
			}
		}
	})
}

// TestStoreErrorEndsRunOnce and Drain, which have nobody to try again for.
func TestStoreErrorEndsRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		publish(t, s, entryOf(""))
		r := newRelay(t, storetest.Flaky(s, storetest.Plan{{Op: storetest.OpClaim, Call: 1, Count: 2}}), relay.Config{}, handler(t, nil))
		_, once := r.RunOnce(t.Context(), 1)
		_, drain := r.Drain(t.Context())
		if !errors.Is(once, storetest.ErrInjected) || !errors.Is(drain, storetest.ErrInjected) {
			t.Errorf("RunOnce: %v, Drain: %v", once, drain)
		}
		if n, err := r.Drain(t.Context()); n != 1 || err != nil {
			t.Errorf("Drain afterwards: %d, %v", n, err)
		}
	})
}
