package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// fake delivers what it is given unless it is told otherwise.
type fake struct{ err error }

func (fake) Type() destination.Type                             { return destination.Service }
func (fake) Scope() claim.Scope                                 { return claim.All() }
func (f fake) Deliver(context.Context, delivery.Envelope) error { return f.err }

// fakeBatches refuses the second of a batch.
type fakeBatches struct{ fake }

var errRefused = errors.New("refused")

func (fakeBatches) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	results := make([]error, len(batch))
	if len(batch) > 1 {
		results[1] = errRefused
	}
	return results
}

func envelope(order string) delivery.Envelope {
	return delivery.Envelope{Payload: []byte(`{"orderId":"` + order + `","seq":1}`)}
}

func TestGateHoldsDeliveriesFromOneOrderOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reports []int
		g := &gate{from: "order-5", report: func(held int) { reports = append(reports, held) }}
		h := g.around(fake{})
		if _, batch := h.(delivery.BatchHandler); batch {
			t.Error("the gate made a batch handler of one that is none")
		}
		ctx, kill := context.WithCancel(t.Context())
		var returned atomic.Int32
		deliver := func(order string) {
			if err := h.Deliver(ctx, envelope(order)); err != nil {
				t.Error(err)
			}
			returned.Add(1)
		}
		deliver("order-4")
		go deliver("order-5")
		go deliver("order-7")
		synctest.Wait()
		deliver("order-3")
		if returned.Load() != 2 || !slices.Equal(reports, []int{1, 2}) {
			t.Errorf("%d returned, reported %v; want 2, [1 2]", returned.Load(), reports)
		}
		if err := g.around(fake{err: errRefused}).Deliver(ctx, envelope("order-8")); !errors.Is(err, errRefused) {
			t.Errorf("a delivery that failed: %v", err)
		}
		kill()
		synctest.Wait()
		if returned.Load() != 4 || len(reports) != 2 {
			t.Errorf("%d returned after the end, %d were held", returned.Load(), len(reports))
		}
	})
}

func TestGateHoldsTheBatchOfAHeldDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held := 0
		h := (&gate{from: "order-5", report: func(n int) { held = n }}).around(fakeBatches{}).(delivery.BatchHandler)
		ctx, kill := context.WithCancel(t.Context())
		var results []error
		deliver := func(orders ...string) {
			var batch []delivery.Envelope
			for _, order := range orders {
				batch = append(batch, envelope(order))
			}
			results = h.DeliverBatch(ctx, batch)
		}
		// The only order that is late enough was refused.
		if deliver("order-4", "order-6", "order-3"); held != 0 || len(results) != 3 || !errors.Is(results[1], errRefused) {
			t.Fatalf("%d held, results %v", held, results)
		}
		results = nil
		go deliver("order-4", "order-3", "order-6", "order-7")
		synctest.Wait()
		if held != 2 || results != nil {
			t.Fatalf("%d held, results %v; want 2 and none yet", held, results)
		}
		kill()
		synctest.Wait()
		if len(results) != 4 || results[2] != nil || !errors.Is(results[1], errRefused) {
			t.Fatalf("results %v", results)
		}
	})
}
