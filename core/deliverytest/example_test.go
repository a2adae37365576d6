package deliverytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/destination"
)

// Console is the handler under test.
type Console struct{ failure error }

// Type is what it serves.
func (Console) Type() destination.Type { return "CONSOLE" }

// Scope is the one destination that it knows.
func (Console) Scope() claim.Scope {
	return claim.Targets(func() []string { return []string{"stdout"} })
}

// Deliver accepts JSON objects.
func (c Console) Deliver(ctx context.Context, e delivery.Envelope) error {
	if e.Destination != "stdout" {
		return delivery.Unresolvable(errors.New("not a console of this process"))
	}
	var event map[string]any
	if json.Unmarshal(e.Payload, &event) != nil {
		return delivery.Permanent(errors.New("payload is not an object")) // never quote it
	}
	if c.failure != nil {
		return c.failure
	}
	return ctx.Err()
}

// harness is all that the suite needs to know.
func harness() deliverytest.Harness {
	return deliverytest.Harness{
		New:   func(*testing.T) delivery.Handler { return Console{} },
		Known: "stdout",

		Undecodable:        func(e *delivery.Envelope) { e.Payload = []byte(`[]`) },
		UndecodableVerdict: delivery.VerdictPermanent,
		Failing:            func(_ *testing.T, err error) delivery.Handler { return Console{failure: err} },
	}
}

// How a handler's test looks.
func Example() {
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		deliverytest.Run(t, harness())
	}

	// What the suite does with it, for example:
	h := harness()
	e := delivery.Envelope{Destination: h.Known}
	h.Undecodable(&e)
	err := h.New(nil).Deliver(context.Background(), e)
	fmt.Println(delivery.VerdictOf(err) == h.UndecodableVerdict)
	// Output: true
}
