package relay_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Printer is a handler that prints what it is given.
type Printer struct{}

func (Printer) Type() destination.Type { return "PRINT" }
func (Printer) Scope() claim.Scope     { return claim.All() }

func (Printer) Deliver(_ context.Context, e delivery.Envelope) error {
	fmt.Printf("%s %s to %s: %s\n", e.AggregateID, e.EventType, e.Destination, e.Payload)
	return nil
}

// A service calls Run and lets it work until it shuts down; a test calls Drain.
func ExampleRelay() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})

	tx := store.Begin() // with a database: the transaction of the business data
	publisher := memstore.NewPublisher(store, outbox.Config{})
	for _, event := range []string{"order.placed", "order.paid"} {
		if _, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: "PRINT", Destination: "console", EventType: event, AggregateID: "order-42",
			Payload: map[string]int{"cents": 1250},
		}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := relay.New(store, []delivery.Handler{Printer{}}, relay.Config{
		Observers: []relay.Observer{relay.ObserverFunc(func(_ context.Context, a relay.Attempt) {
			fmt.Printf("entry %d: %v, recorded %v\n", a.Envelope.ID, a.Verdict, a.Recorded)
		})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	attempts, err := r.Drain(ctx)
	fmt.Println(attempts, "attempts, error:", err)
	// Output:
	// order-42 order.placed to console: {"cents":1250}
	// order-42 order.paid to console: {"cents":1250}
	// entry 1: delivered, recorded true
	// entry 2: delivered, recorded true
	// 2 attempts, error: <nil>
}

// ExampleBackoff shows the delays of an entry that keeps failing, without their random part.
func ExampleBackoff() {
	for failed := 1; failed <= 4; failed++ {
		fmt.Println(relay.Backoff(relay.DefaultBackoffBase, relay.DefaultBackoffMax, failed, 0))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 8s
}
