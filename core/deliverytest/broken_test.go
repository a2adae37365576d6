package deliverytest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/internal/elsewhere"
)

// broken is the notes handler with a flaw.
type broken struct {
	*notes
	deliver func(n *notes, ctx context.Context, e delivery.Envelope) error
	batch   func(results []error) []error
	typ     func() destination.Type
	scope   claim.Scope
}

func (b *broken) Type() destination.Type {
	if b.typ != nil {
		return b.typ()
	}
	return b.notes.Type()
}

func (b *broken) Scope() claim.Scope {
	if b.scope != nil {
		return b.scope
	}
	return b.notes.Scope()
}

func (b *broken) Deliver(ctx context.Context, e delivery.Envelope) error {
	if b.deliver != nil {
		return b.deliver(b.notes, ctx, e)
	}
	return b.notes.Deliver(ctx, e)
}

func (b *broken) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := b.notes.DeliverBatch(ctx, batch)
	if b.batch != nil {
		return b.batch(results)
	}
	return results
}

// flaw is what is wrong with a handler, and the test that must see it.
type flaw struct {
	where string
	apply func(b *broken)
}

// delivering replaces Deliver.
func delivering(f func(n *notes, ctx context.Context, e delivery.Envelope) error) func(*broken) {
	return func(b *broken) { b.deliver = f }
}

var errOwn = errors.New("own")

var flaws = map[string]flaw{
	"panics without payload": {"odd_envelopes", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		_ = e.Payload[0]
		return n.Deliver(ctx, e)
	})},
	"changes headers": {"the_envelope_is_not_changed", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if e.Headers != nil {
			e.Headers["seen"] = "1"
		}
		return n.Deliver(ctx, e)
	})},
	"buries unknown destinations": {"an_unknown_destination", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if err := n.Deliver(ctx, e); err != nil {
			return delivery.Permanent(err)
		}
		return nil
	})},
	"buries unknown errors": {"an_unknown_error", delivering(func(n *notes, _ context.Context, _ delivery.Envelope) error {
		if n.failure != nil {
			return delivery.Permanent(n.failure)
		}
		return nil
	})},
	"buries what was cancelled": {"an_ended_context", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if ctx != nil && ctx.Err() != nil {
			return delivery.Permanent(ctx.Err())
		}
		return n.Deliver(ctx, e)
	})},
	"quotes payloads": {"errors_quote_nothing", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if err := n.Deliver(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", e.Payload, err)
		}
		return nil
	})},
	"refuses duplicates": {"a_duplicate", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		n.mu.Lock()
		_, seen := n.filed[e.MessageID.String()]
		n.mu.Unlock()
		if seen {
			return delivery.Permanent(errOwn)
		}
		return n.Deliver(ctx, e)
	})},
	"retries what cannot be decoded": {"an_undecodable_payload", delivering(func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if err := n.Deliver(ctx, e); delivery.VerdictOf(err) == delivery.VerdictPermanent {
			return errOwn
		}
		return nil
	})},
	"takes one at a time": {"deliveries_at_once", delivering(oneAtATime())},
	"loses a result":      {"batches", func(b *broken) { b.batch = func(r []error) []error { return r[min(1, len(r)):] } }},
	"fails the whole batch": {"batches", func(b *broken) {
		b.batch = func(results []error) []error {
			if failed := errors.Join(results...); failed != nil {
				for i := range results {
					results[i] = failed
				}
			}
			return results
		}
	}},
	"has no scope for what it knows": {"type_and_scope", func(b *broken) {
		b.scope = claim.Targets(func() []string { return []string{"shelf"} })
	}},
	"has a bad type": {"type_and_scope", func(b *broken) { b.typ = func() destination.Type { return "no good" } }},
}

func oneAtATime() func(n *notes, ctx context.Context, e delivery.Envelope) error {
	var busy sync.Mutex
	return func(n *notes, ctx context.Context, e delivery.Envelope) error {
		if !busy.TryLock() {
			return errOwn
		}
		defer busy.Unlock()
		time.Sleep(time.Millisecond)
		return n.Deliver(ctx, e)
	}
}

// TestSuiteFindsBrokenHandlers runs the suite against handlers with one flaw each: each
// has to make the test fail that is there for it.
func TestSuiteFindsBrokenHandlers(t *testing.T) {
	t.Parallel()
	if name := elsewhere.Case(); name != "" {
		runBroken(t, flaws[name].apply)
		return
	}
	for name, f := range flaws {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := elsewhere.Run(t, name, f.where)
			if err == nil || !strings.Contains(out, "--- FAIL: "+elsewhere.Root(t)+"/"+f.where) {
				t.Errorf("%s did not fail as it should: %v\n%s", f.where, err, out)
			}
		})
	}
}

func runBroken(t *testing.T, breakIt func(*broken)) {
	open := func(failure error) delivery.Handler {
		b := &broken{notes: &notes{failure: failure, filed: map[string]string{}}}
		breakIt(b)
		return b
	}
	deliverytest.Run(t, deliverytest.Harness{
		New:                func(*testing.T) delivery.Handler { return open(nil) },
		Known:              "desk",
		Undecodable:        func(e *delivery.Envelope) { e.Payload = []byte(`[]`) },
		UndecodableVerdict: delivery.VerdictPermanent,
		Failing:            func(_ *testing.T, err error) delivery.Handler { return open(err) },
	})
}
