package pgxtx_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

var confirmed = outbox.Entry{
	DestinationType: destination.Kafka, Destination: "orders",
	EventType: "order.confirmed", AggregateID: "order-42", Payload: map[string]int{"total": 4200},
}

// The entry is there if and only if the transaction commits.
func ExampleNewPublisher() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))

	tx := must(pool.Begin(ctx))
	must(publisher.Publish(ctx, tx, confirmed))
	check(tx.Rollback(ctx)) // nothing happened

	tx = must(pool.Begin(ctx))
	id := must(publisher.Publish(ctx, tx, confirmed))
	check(tx.Commit(ctx))

	var event, payload string
	check(pool.QueryRow(ctx, "SELECT event_type, payload FROM outbox WHERE id = $1", id).Scan(&event, &payload))
	fmt.Println(event, payload)
	// Output: order.confirmed {"total": 4200}
}

// A refused entry leaves the transaction as it was: nothing was sent.
func ExampleNewPublisher_refused() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))

	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		nowhere := confirmed
		nowhere.Destination = ""
		_, err := publisher.Publish(ctx, tx, nowhere)
		fmt.Println(fault.IsInvalid(err), err)
		_, err = publisher.Publish(ctx, tx, confirmed)
		return err
	})
	fmt.Println(err)
	// Output:
	// true satchel: destination is empty
	// <nil>
}

// What a savepoint undoes was never published.
func ExampleNewPublisher_savepoint() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))

	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		must(publisher.Publish(ctx, tx, confirmed))
		inner := must(tx.Begin(ctx)) // a savepoint
		must(publisher.PublishAll(ctx, inner, confirmed, confirmed))
		return inner.Rollback(ctx)
	}))
	var entries int
	check(pool.QueryRow(ctx, "SELECT count(*) FROM outbox").Scan(&entries))
	fmt.Println(entries)
	// Output: 1
}

// A test of an application can look at what it publishes, also before the commit.
func ExampleNewWriter() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	tap := outboxtest.NewTap(must(pgxtx.NewWriter(pgxtx.Config{})))
	publisher := outbox.NewPublisher(tap, outbox.Config{})

	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		must(publisher.Publish(ctx, tx, confirmed))
		for _, r := range tap.In(tx) {
			fmt.Println(r.EventType, "for", r.AggregateID)
		}
		return nil
	}))
	// Output: order.confirmed for order-42
}

// The second delivery of a message finds the marker of the first and does nothing.
func ExampleNewProcessor() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	processor := must(pgxtx.NewProcessor(pgxtx.Config{}))

	for range 2 {
		check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			ran, err := processor.Once(ctx, tx, inbox.Message{ID: "m-1", Source: "billing/orders"}, func(ctx context.Context) error {
				fmt.Println("bill the order")
				return nil
			})
			fmt.Println("ran:", ran)
			return err
		}))
		// Acknowledge the message here, after the commit.
	}
	// Output:
	// bill the order
	// ran: true
	// ran: false
}

// Publishers that take the lock of an aggregate commit in the order of their entries. One that
// does not want to wait without end sets a lock_timeout and tries the transaction again.
func ExampleWriter_LockAggregate() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	writer := must(pgxtx.NewWriter(pgxtx.Config{}))

	first, second := must(pool.Begin(ctx)), must(pool.Begin(ctx))
	check(writer.LockAggregate(ctx, first, "order-42"))

	must(second.Exec(ctx, "SET LOCAL lock_timeout = '10ms'"))
	err := writer.LockAggregate(ctx, second, "order-42")
	fmt.Println("while the first is open:", fault.Retryable(err))
	check(second.Rollback(ctx))
	check(first.Commit(ctx))

	second = must(pool.Begin(ctx))
	fmt.Println("after its end:", writer.LockAggregate(ctx, second, "order-42"))
	check(second.Rollback(ctx))
	// Output:
	// while the first is open: true
	// after its end: <nil>
}
