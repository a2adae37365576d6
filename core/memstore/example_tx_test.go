package memstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// A rollback can be deferred: after a commit it does nothing.
func ExampleTx_Rollback() {
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	fmt.Println(tx.Commit())
	err := tx.Rollback()
	fmt.Println(errors.Is(err, memstore.ErrTxDone), err)
	// Output:
	// <nil>
	// true satchel: tx.rollback failed: transaction has already been committed or rolled back
}

// A part of a transaction can be undone. The id that it drew stays drawn.
func ExampleTx_Savepoint() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	entry := func(event string) outbox.Entry {
		return outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", EventType: event, Payload: 42}
	}

	tx := store.Begin()
	_, _ = publisher.Publish(ctx, tx, entry("order.placed"))
	before := tx.Savepoint()
	_, _ = publisher.Publish(ctx, tx, entry("order.paid"))
	fmt.Println(tx.RollbackTo(before))
	_, _ = publisher.Publish(ctx, tx, entry("order.cancelled"))
	fmt.Println(tx.Commit())
	for _, row := range store.Rows() {
		fmt.Println(row.ID, row.EventType)
	}
	// Output:
	// <nil>
	// <nil>
	// 1 order.placed
	// 3 order.cancelled
}

// As with PostgreSQL a failed statement spoils its transaction, with the same codes.
func ExampleTx_Commit() {
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := memstore.NewPublisher(store, outbox.Config{}).Publish(ended, tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.placed", Payload: 42,
	})
	fmt.Println(fault.Retryable(err), err)
	fmt.Println(tx.Commit())
	// Output:
	// true satchel: outbox.publish failed (SQLSTATE 57014): context canceled
	// satchel: tx.commit failed (SQLSTATE 25P02): transaction is aborted by an earlier failure
}

// A processor over the same store makes a consumer that can be tested.
func ExampleNewProcessor() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)
	for range 2 {
		tx := store.Begin()
		ran, err := processor.Once(ctx, tx, inbox.Message{ID: "m-1", Source: "billing"}, func(context.Context) error { return nil })
		fmt.Println(ran, err, tx.Commit())
	}
	// Output:
	// true <nil> <nil>
	// false <nil> <nil>
}

// Ids can begin where a test wants them, for example beyond what a float64 holds.
func ExampleConfig() {
	store := memstore.New(memstore.Config{FirstID: 9_007_199_254_740_993})
	tx := store.Begin()
	fmt.Println(memstore.NewPublisher(store, outbox.Config{}).Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.placed", Payload: 42,
	}))
	// Output: 9007199254740993 <nil>
}

// A waker hints at commits that brought entries.
func ExampleStore_Waker() {
	store := memstore.New(memstore.Config{})
	hints, cancel := store.Waker().Subscribe()
	defer cancel()

	tx := store.Begin()
	_, _ = memstore.NewPublisher(store, outbox.Config{}).Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.placed", Payload: 42,
	})
	fmt.Println("before the commit:", len(hints))
	_ = tx.Commit()
	fmt.Println("after it:", len(hints))
	// Output:
	// before the commit: 0
	// after it: 1
}
