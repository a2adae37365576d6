package destinations

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core/delivery"
)

// forgetful stands in front of a handler and loses its answer to the first attempt at every entry.
type forgetful struct{ delivery.Handler }

// forgetfulBatch is the same for a handler that takes batches.
type forgetfulBatch struct{ delivery.BatchHandler }

var errAnswerLost = errors.New("the answer was lost")

func lose(e delivery.Envelope, err error) error {
	if err == nil && e.Attempt == 1 {
		return errAnswerLost
	}
	return err
}

// Deliver implements delivery.Handler.
func (f forgetful) Deliver(ctx context.Context, e delivery.Envelope) error {
	return lose(e, f.Handler.Deliver(ctx, e))
}

// DeliverBatch implements delivery.BatchHandler.
func (f forgetfulBatch) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := f.BatchHandler.DeliverBatch(ctx, batch)
	for i, err := range results {
		results[i] = lose(batch[i], err)
	}
	return results
}
