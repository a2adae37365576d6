package postgres_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// An entry is published in a transaction and delivered once that has committed. A service
// calls Run where this example calls Drain, and has a handler for a broker.
func Example() {
	ctx := context.Background()
	pool, done := database()
	defer done()

	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))
	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: "order.confirmed", AggregateID: "order-42", Payload: map[string]int{"total": 4200},
		})
		return err
	}))

	store := must(postgres.NewStore(pool, postgres.Config{}))
	broker := outboxtest.NewRecorder(destination.Kafka)
	node := must(relay.New(store, []delivery.Handler{broker}, relay.Config{}))
	must(node.Drain(ctx))
	for _, e := range broker.Delivered() {
		fmt.Printf("%s %s %s\n", e.Destination, e.EventType, e.Payload)
	}
	// Output: orders order.confirmed {"total": 4200}
}

// Tables in a schema of their own are named by it, whatever the search_path is. Publisher and
// store must be given the same one. A name with quotes or capitals is used as it is.
func ExampleNewStore_schema() {
	ctx := context.Background()
	pool, done := database()
	defer done()

	const schema = pgtest.Mapped // for example "messaging"
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{Schema: schema}, outbox.Config{}))
	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
		})
		return err
	}))
	for _, cfg := range []postgres.Config{{}, {Schema: schema}} {
		store := must(postgres.NewStore(pool, cfg))
		node := must(relay.New(store, []delivery.Handler{outboxtest.NewRecorder(destination.Kafka)}, relay.Config{}))
		fmt.Println("delivered:", must(node.Drain(ctx)))
	}
	_, err := postgres.NewStore(pool, postgres.Config{Schema: "app.messaging"})
	fmt.Println(err)
	// Output:
	// delivered: 0
	// delivered: 1
	// satchel: schema name has a dot: one name is wanted, not a qualified one
}

// What was refused before anything was sent is a *fault.Invalid, and what the database
// refused a *fault.Persistence. Retryable tells whether the same call may succeed later.
func Example_errors() {
	ctx := context.Background()
	pool, done := database()
	defer done()

	_, err := postgres.NewStore(nil, postgres.Config{})
	fmt.Println(fault.IsInvalid(err), fault.Retryable(err))

	// The tables are not there: nothing that a second try would change.
	elsewhere := must(postgres.NewStore(pool, postgres.Config{Schema: "elsewhere"}))
	_, err = elsewhere.DeleteInbox(ctx, maintenance.Day, 1000)
	var failure *fault.Persistence
	fmt.Println(errors.As(err, &failure), failure.Code, fault.Retryable(err))

	// The server is not there: it may come back.
	down := must(pgxpool.New(ctx, "postgres://app@127.0.0.1:1/app?sslmode=disable"))
	defer down.Close()
	_, err = must(postgres.NewStore(down, postgres.Config{})).DeleteInbox(ctx, maintenance.Day, 1000)
	fmt.Println(errors.As(err, &failure), failure.Code == "", fault.Retryable(err))
	// Output:
	// true false
	// true 42P01 false
	// true true true
}

// A delivered entry is kept until retention removes it, or leaves the table in the statement
// that settles it: for the archive, or for good.
func Example_onPublished() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))
	store := must(postgres.NewStore(pool, postgres.Config{}))

	for _, then := range []relay.OnPublished{relay.Keep, relay.Archive, relay.Delete} {
		check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := publisher.Publish(ctx, tx, outbox.Entry{
				DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
			})
			return err
		}))
		node := must(relay.New(store, []delivery.Handler{outboxtest.NewRecorder(destination.Kafka)}, relay.Config{OnPublished: then}))
		must(node.Drain(ctx))

		var table, archive int
		check(pool.QueryRow(ctx, "SELECT (SELECT count(*) FROM outbox), (SELECT count(*) FROM outbox_archive)").Scan(&table, &archive))
		fmt.Println(then, "table:", table, "archive:", archive)
	}
	// Output:
	// KEEP table: 1 archive: 0
	// ARCHIVE table: 1 archive: 1
	// DELETE table: 1 archive: 1
}
