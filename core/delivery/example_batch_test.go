package delivery_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// Bulk is a handler whose destination takes many entries in one call.
type Bulk struct{}

// Type is what it serves.
func (Bulk) Type() destination.Type { return "BULK" }

// Scope is every destination of the type.
func (Bulk) Scope() claim.Scope { return claim.All() }

// Deliver is a batch of one.
func (b Bulk) Deliver(ctx context.Context, e delivery.Envelope) error {
	return b.DeliverBatch(ctx, []delivery.Envelope{e})[0]
}

// DeliverBatch returns one result for each entry: what fails harms no other.
func (Bulk) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	results := make([]error, len(batch))
	for i, e := range batch {
		if len(e.Payload) == 0 {
			results[i] = delivery.Permanent(errors.New("empty document"))
		}
	}
	return results
}

// A handler that takes many entries at once. The relay gives it no two of one aggregate.
func ExampleBatchHandler() {
	batch := []delivery.Envelope{{Payload: []byte(`{}`)}, {}, {Payload: []byte(`[]`)}}
	for _, err := range delivery.AttemptBatch(context.Background(), Bulk{}, batch) {
		fmt.Println(delivery.VerdictOf(err))
	}
	// Output:
	// delivered
	// permanent
	// delivered
}
