package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestClaimsOfABurst: four relays, ten thousand commits of one entry each in ten seconds,
// all of them hinted at. The claims stay far fewer than the hints.
func TestClaimsOfABurst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		flaky := storetest.Flaky(s, nil)
		h := handler(t, nil)
		var xs []*running
		for range 4 {
			xs = append(xs, start(t, flaky, relay.Config{Waker: s.Waker(), OnPublished: relay.Delete, PollingInterval: time.Minute}, h))
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Second) // all know of each other
		before := flaky.Calls(storetest.OpClaim)
		for range 10_000 {
			publish(t, s, entryOf(""))
			time.Sleep(time.Millisecond)
		}
		if n := flaky.Calls(storetest.OpClaim) - before; n > 3000 {
			t.Errorf("%d claims for 10,000 hints", n)
		}
		until(t, "the end", func() bool { return len(s.Rows()) == 0 })
		after := flaky.Calls(storetest.OpClaim)
		time.Sleep(30 * time.Second)
		if n := flaky.Calls(storetest.OpClaim) - after; n > 50 {
			t.Errorf("%d claims in the half minute after the burst", n)
		}
		for _, x := range xs {
			x.end()
		}
		if len(h.seen()) != 10_000 {
			t.Errorf("%d deliveries", len(h.seen()))
		}
	})
}

// TestLimits: never more handlers than Concurrency, never more held than that and
// Prefetch, never more asked for than BatchSize, nor longer runs than RunLength.
func TestLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		var most int
		w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
			if req.Limit < 1 || req.Limit > 10 || req.RunLength > 4 || req.RunLength < 1 {
				t.Errorf("asked for %+v", req)
			}
			batch, err := next.Claim(ctx, req)
			most = max(most, count(s, outbox.Processing))
			return batch, err
		}}
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			time.Sleep(time.Duration(e.ID%20) * time.Millisecond)
			return nil
		})
		publish(t, s, entries(300, func(i int) string { return name("A")(i % 50) })...)
		x := start(t, w, relay.Config{BatchSize: 10, Concurrency: 3, Prefetch: 6, RunLength: 4}, h)
		until(t, "the end", settled(s))
		x.end()
		if n := h.peak(); n != 3 {
			t.Errorf("%d handlers at once, want 3", n)
		}
		if most > 9 || most < 7 {
			t.Errorf("%d entries were held, want up to 9", most)
		}
	})
}

// TestTypesTakeTurns: a backlog of one type does not keep another waiting.
func TestTypesTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		// The busy type comes first in the order of names.
		busy := handlerOf(t, "BUSY", func(context.Context, delivery.Envelope, int) error { time.Sleep(10 * time.Millisecond); return nil })
		other := handler(t, nil)
		backlog := entries(1000, unordered)
		for i := range backlog {
			backlog[i].DestinationType = "BUSY"
		}
		publish(t, s, append(backlog, entries(5, unordered)...)...)
		x := start(t, s, relay.Config{BatchSize: 10}, busy, other)
		until(t, "the few", func() bool { return len(other.seen()) == 5 })
		if n := len(busy.seen()); n > 50 {
			t.Errorf("the 5 entries of the other type came after %d of the first", n)
		}
		x.end()
	})
}
