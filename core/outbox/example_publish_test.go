package outbox_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// An entry is published in the transaction of the change that it reports.
func ExamplePublisher_Publish() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	// ... the business change, in the same transaction ...
	id, err := publisher.Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Kafka,
		Destination:     "orders",
		EventType:       "order.confirmed",
		AggregateID:     "order-42", // keeps the order of this order's events
		Payload:         map[string]any{"order": 42, "total": "19.90"},
		Headers:         map[string]string{"tenant": "acme"},
	})
	if err != nil {
		_ = tx.Rollback() // neither the change nor the entry exists
		return
	}
	fmt.Println("entry", id, "committed:", tx.Commit() == nil)
	// Output:
	// entry 1 committed: true
}

// What was published in a transaction that is rolled back never existed.
func ExamplePublisher_Publish_rollback() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	_, err := publisher.Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
	})
	fmt.Println(err, tx.Rollback(), len(store.Rows()))
	// Output: <nil> <nil> 0
}

// An entry that could not be stored or delivered is refused before anything is sent:
// the transaction can go on.
func ExamplePublisher_Publish_refused() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	_, err := publisher.Publish(ctx, tx, outbox.Entry{DestinationType: destination.Kafka, EventType: "order.confirmed"})
	var invalid *fault.Invalid
	fmt.Println(errors.As(err, &invalid), invalid.Field)
	fmt.Println(err)
	fmt.Println(tx.Commit())
	// Output:
	// true destination
	// satchel: destination is empty
	// <nil>
}

// Several entries take one statement, all or none, and keep their order.
func ExamplePublisher_PublishAll() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	event := func(what string) outbox.Entry {
		return outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: what, AggregateID: "order-42", Payload: map[string]string{"order": "42"},
		}
	}

	tx := store.Begin()
	fmt.Println(publisher.PublishAll(ctx, tx, event("order.placed"), event("order.paid")))
	fmt.Println(publisher.PublishAll(ctx, tx, event("order.packed"), event(""))) // neither of the two
	fmt.Println(tx.Commit(), len(store.Rows()))
	// Output:
	// [1 2] <nil>
	// [] entry 1: satchel: event type is empty
	// <nil> 2
}

// A configuration holds for every entry of a publisher.
func ExampleConfig() {
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{
		MaxAttempts: 5,
		// A relay that is connected to another cluster leaves the entry alone.
		Fingerprint: func(destination.Type, string) string { return "cluster-eu" },
	})
	tx := store.Begin()
	_, err := publisher.Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
	})
	fmt.Println(err, tx.Commit())
	row := store.Rows()[0]
	fmt.Println(row.MaxAttempts, string(row.Metadata))
	// Output:
	// <nil> <nil>
	// 5 {"delivery":{"fingerprint":"cluster-eu"}}
}

// Any writer makes a publisher; this one prints what it passes on.
func ExampleNewPublisher() {
	store := memstore.New(memstore.Config{})
	publisher := outbox.NewPublisher(printing{store}, outbox.Config{})

	tx := store.Begin()
	id, err := publisher.Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
	})
	fmt.Println(id, err)
	_ = tx.Rollback()
	// Output:
	// order.confirmed to orders
	// 1 <nil>
}

type printing struct{ outbox.Writer[*memstore.Tx] }

func (p printing) Insert(ctx context.Context, tx *memstore.Tx, records []outbox.Record) ([]outbox.ID, error) {
	for _, r := range records {
		fmt.Println(r.EventType, "to", r.Destination)
	}
	return p.Writer.Insert(ctx, tx, records)
}
