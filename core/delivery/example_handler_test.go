package delivery_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// SMS delivers entries to the gateways that it knows.
type SMS struct {
	gateways map[string]func(text string) error
}

// Errors of the gateways.
var (
	ErrRejected = errors.New("number does not exist")
	ErrDown     = errors.New("connection refused")
)

// Type is an identifier of the application's own.
func (SMS) Type() destination.Type { return "SMS" }

// Scope limits what this node claims to what it can deliver.
func (s SMS) Scope() claim.Scope {
	return claim.Targets(func() []string {
		names := []string{}
		for name := range s.gateways {
			names = append(names, name)
		}
		return names
	})
}

// Deliver sends one message and says by its error what is to become of the entry.
func (s SMS) Deliver(_ context.Context, e delivery.Envelope) error {
	send, known := s.gateways[e.Destination]
	if !known {
		return delivery.Unresolvable(fmt.Errorf("gateway %q is not known here", e.Destination))
	}
	err := send(string(e.Payload))
	switch {
	case errors.Is(err, ErrRejected):
		return delivery.Permanent(err) // no attempt can help
	case errors.Is(err, ErrDown):
		return delivery.Unavailable(err) // pause this gateway, charge nothing
	}
	return err // nil is delivered, anything else is tried again
}

// A whole handler.
func ExampleHandler() {
	handler := SMS{gateways: map[string]func(string) error{
		"eu":   func(string) error { return nil },
		"us":   func(string) error { return ErrDown },
		"test": func(string) error { return ErrRejected },
		"old":  func(string) error { return errors.New("try later") },
	}}
	for _, name := range []string{"eu", "us", "test", "old", "moon"} {
		err := handler.Deliver(context.Background(), delivery.Envelope{Destination: name, Payload: []byte(`"hello"`)})
		fmt.Println(name, delivery.VerdictOf(err))
	}
	// Output:
	// eu delivered
	// us unavailable
	// test permanent
	// old retryable
	// moon unresolvable
}
