package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// cluster is a handler that knows which Kafka cluster it is connected to.
type cluster struct{ id string }

func (cluster) Type() destination.Type { return destination.Kafka }
func (cluster) Scope() claim.Scope     { return claim.All() }

func (c cluster) Fingerprint(context.Context, string) string { return c.id }

func (cluster) Deliver(_ context.Context, e delivery.Envelope) error {
	var event struct{ Lines []string }
	if err := json.Unmarshal(e.Payload, &event); err != nil {
		return delivery.Permanent(err)
	}
	fmt.Println(event.Lines[0])
	return nil
}

// A panic of a handler is a failed attempt like any other.
func ExampleAttempt() {
	for _, payload := range []string{`{"lines":["one"]}`, `{"lines":[]}`} {
		err := delivery.Attempt(context.Background(), cluster{}, delivery.Envelope{Payload: []byte(payload)})
		var panicked *delivery.PanicError
		fmt.Println(delivery.VerdictOf(err), errors.As(err, &panicked))
	}
	// Output:
	// one
	// delivered false
	// retryable true
}

// An entry that was stored for another cluster waits for a node that is connected to it.
func ExampleFingerprinter() {
	e := delivery.Envelope{
		DestinationType: destination.Kafka, Destination: "orders",
		Metadata: outbox.Metadata{Delivery: map[string]json.RawMessage{outbox.FingerprintKey: json.RawMessage(`"eu"`)}},
	}
	fmt.Println(e.Fingerprint())
	for _, id := range []string{"eu", "us", ""} { // "": not known yet
		err := delivery.CheckFingerprint(context.Background(), cluster{id}, &e)
		fmt.Println(delivery.VerdictOf(err), errors.Is(err, delivery.ErrFingerprint))
	}
	// Output:
	// eu
	// delivered false
	// unresolvable true
	// delivered false
}

// All that is wrong with a set of handlers is said at once.
func ExampleNewRegistry() {
	_, err := delivery.NewRegistry(cluster{"eu"}, nil, cluster{"us"})
	fmt.Println(err)

	registry, err := delivery.NewRegistry(cluster{"eu"})
	_, found := registry.Handler(destination.Kafka)
	fmt.Println(found, len(registry.Capabilities()), err)
	// Output:
	// satchel: handler 1 is nil
	// satchel: destination type KAFKA has two handlers: delivery_test.cluster and delivery_test.cluster
	// true 1 <nil>
}

// What a handler sees of a stored entry.
func ExampleEnvelopeOf() {
	e, dropped, err := delivery.EnvelopeOf(&outbox.Record{
		ID: 7, Destination: "orders", EventType: "order.confirmed", Payload: []byte(`{}`),
		Headers: json.RawMessage(`{"tenant":"acme","region":null}`), Attempt: 2, MaxAttempts: 20,
	})
	fmt.Println(e.ContentType, e.Headers, dropped, err)
	fmt.Println("attempt", e.Attempt, "of", e.MaxAttempts)
	// Output:
	// application/json map[tenant:acme] [region] <nil>
	// attempt 3 of 20
}

// The type that is recorded with a failure is the first that says something.
func ExampleErrorType() {
	err := delivery.Permanent(fmt.Errorf("render: %w", &fs.PathError{Op: "open", Path: "invoice.tmpl", Err: fs.ErrNotExist}))
	fmt.Println(delivery.ErrorType(err))
	// Output: *fs.PathError
}
