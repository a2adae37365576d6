package deliverytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/destination"
)

// notes is a handler with everything a handler can have: it files the "note" of a
// JSON payload under the message id.
type notes struct {
	failure error

	mu    sync.Mutex
	filed map[string]string
}

func newNotes(*testing.T) delivery.Handler { return &notes{filed: map[string]string{}} }

func (*notes) Type() destination.Type { return "NOTES" }

func (*notes) Scope() claim.Scope {
	return claim.Targets(func() []string { return []string{"desk", "shelf"} })
}

func (*notes) Fingerprint(_ context.Context, name string) string {
	if name == "desk" {
		return "office-1"
	}
	return ""
}

func (n *notes) Deliver(ctx context.Context, e delivery.Envelope) error {
	if e.Destination != "desk" && e.Destination != "shelf" {
		return delivery.Unresolvable(errors.New("no such place"))
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if n.failure != nil {
		return fmt.Errorf("file: %w", n.failure)
	}
	var doc struct{ Note string }
	if json.Unmarshal(e.Payload, &doc) != nil {
		return delivery.Permanent(errors.New("payload is not a note"))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.filed[e.MessageID.String()] = doc.Note // the same id again changes nothing
	return nil
}

func (n *notes) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := make([]error, len(batch))
	for i := range batch {
		results[i] = n.Deliver(ctx, batch[i])
	}
	return results
}

// anywhere is the least that a handler can be.
type anywhere struct{}

func (anywhere) Type() destination.Type                           { return "ANYWHERE" }
func (anywhere) Scope() claim.Scope                               { return claim.All() }
func (anywhere) Deliver(context.Context, delivery.Envelope) error { return nil }

func TestFullHandler(t *testing.T) {
	t.Parallel()
	deliverytest.Run(t, deliverytest.Harness{
		New:                newNotes,
		Known:              "desk",
		Undecodable:        func(e *delivery.Envelope) { e.Payload = []byte(`[]`) },
		UndecodableVerdict: delivery.VerdictPermanent,
		Failing: func(_ *testing.T, err error) delivery.Handler {
			return &notes{failure: err}
		},
	})
}

func TestSmallestHandler(t *testing.T) {
	t.Parallel()
	deliverytest.Run(t, deliverytest.Harness{
		New:   func(*testing.T) delivery.Handler { return anywhere{} },
		Known: "anything",
		Valid: func(e *delivery.Envelope) { e.Headers = nil },
	})
}
