package sqltx_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

var confirmed = outbox.Entry{
	DestinationType: destination.Kafka, Destination: "orders",
	EventType: "order.confirmed", AggregateID: "order-42", Payload: map[string]int{"total": 4200},
}

// The entry is there if and only if the transaction commits.
func ExampleNewPublisher() {
	ctx := context.Background()
	db, done := database()
	defer done()
	publisher := must(sqltx.NewPublisher(sqltx.Config{}, outbox.Config{}))

	tx := must(db.BeginTx(ctx, nil))
	must(publisher.Publish(ctx, tx, confirmed))
	check(tx.Rollback()) // nothing happened

	tx = must(db.BeginTx(ctx, nil))
	id := must(publisher.Publish(ctx, tx, confirmed))
	check(tx.Commit())

	var event, payload string
	check(db.QueryRowContext(ctx, "SELECT event_type, payload FROM outbox WHERE id = $1", id).Scan(&event, &payload))
	fmt.Println(event, payload)
	// Output: order.confirmed {"total": 4200}
}

// The second delivery of a message finds the marker of the first and does nothing.
func ExampleNewProcessor() {
	ctx := context.Background()
	db, done := database()
	defer done()
	processor := must(sqltx.NewProcessor(sqltx.Config{}))

	for range 2 {
		tx := must(db.BeginTx(ctx, nil))
		ran := must(processor.Once(ctx, tx, inbox.Message{ID: "m-1", Source: "billing/orders"}, func(ctx context.Context) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE bill (order_id text)")
			return err
		}))
		check(tx.Commit())
		fmt.Println("ran:", ran)
	}
	// Output:
	// ran: true
	// ran: false
}

// Publishers that take the lock of an aggregate commit in the order of their entries.
func ExampleWriter_LockAggregate() {
	ctx := context.Background()
	db, done := database()
	defer done()
	writer := must(sqltx.NewWriter(sqltx.Config{}))
	publisher := outbox.NewPublisher(writer, outbox.Config{})

	tx := must(db.BeginTx(ctx, nil))
	check(writer.LockAggregate(ctx, tx, confirmed.AggregateID))
	fmt.Println(publisher.Publish(ctx, tx, confirmed))
	check(tx.Commit()) // and lets the next one in
	// Output: 1 <nil>
}
