package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/satchel-go/satchel/core/delivery"
)

// gate keeps a node from settling deliveries that were made: those of all orders from a
// given one on. What is delivered is then not settled: the moment at which the death of
// the node makes duplicates. A real node dies there by chance; this one waits for it.
type gate struct {
	from   string         // the first order that is held
	report func(held int) // told how many are held, each time one more is

	mu   sync.Mutex
	held int
}

// around returns h behind the gate, in the form that the relay would see without it.
func (g *gate) around(h delivery.Handler) delivery.Handler {
	single := gated{Handler: h, gate: g}
	if batch, ok := h.(delivery.BatchHandler); ok {
		return gatedBatches{gated: single, batch: batch}
	}
	return single
}

// holds reports whether a delivery that was made is to be held, and counts it.
func (g *gate) holds(e *delivery.Envelope) bool {
	var event OrderEvent
	if json.Unmarshal(e.Payload, &event) != nil || event.OrderID < g.from {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held++
	g.report(g.held)
	return true
}

// gated is a handler behind the gate.
type gated struct {
	delivery.Handler
	gate *gate
}

// Deliver implements delivery.Handler.
func (g gated) Deliver(ctx context.Context, e delivery.Envelope) error {
	err := g.Handler.Deliver(ctx, e)
	if err == nil && g.gate.holds(&e) {
		<-ctx.Done()
	}
	return err
}

// gatedBatches is a batch handler behind the gate.
type gatedBatches struct {
	gated
	batch delivery.BatchHandler
}

// DeliverBatch implements delivery.BatchHandler. One delivery that is held holds its batch.
func (g gatedBatches) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := g.batch.DeliverBatch(ctx, batch)
	hold := false
	for i, err := range results {
		hold = err == nil && g.gate.holds(&batch[i]) || hold
	}
	if hold {
		<-ctx.Done()
	}
	return results
}
