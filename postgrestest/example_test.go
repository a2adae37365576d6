package postgrestest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgrestest"
)

// confirm is what an application does: here it publishes and nothing else.
func confirm(ctx context.Context, pool *pgxpool.Pool, order string) error {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: "order.confirmed", AggregateID: order, Payload: map[string]string{"order": order},
		})
		return err
	})
}

// A test gets a database of its own, looks at what was published, and delivers it.
func Example() {
	t, done := newTest() // in a test: its *testing.T
	defer done()
	db := postgrestest.New(t)
	pool := db.Pool(t)

	published := outboxtest.Added(t, postgrestest.Entries(pool, ""), func() {
		if err := confirm(t.Context(), pool, "order-42"); err != nil {
			t.Fatal(err)
		}
	})
	outboxtest.Expect(t, published, outbox.Entry{Destination: "orders", EventType: "order.confirmed"})

	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	broker := outboxtest.NewRecorder(destination.Kafka)
	outboxtest.Drain(t, store, broker)
	for _, e := range broker.Delivered() {
		fmt.Println(e.Destination, e.AggregateID)
	}
	// Output: orders order-42
}

// Over a transaction also what is not committed yet is seen.
func ExampleEntries() {
	t, done := newTest() // in a test: its *testing.T
	defer done()
	pool := postgrestest.New(t).Pool(t)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}

	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := outboxtest.Added(t, postgrestest.Entries(tx, ""), func() {
		_, err = publisher.Publish(t.Context(), tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
		})
	})
	fmt.Println(len(seen), seen[0].EventType, string(seen[0].Payload), err)
	fmt.Println(tx.Rollback(t.Context()))
	// Output:
	// 1 order.confirmed 42 <nil>
	// <nil>
}

// An application on database/sql gets the same tables; any other library connects to URL.
func ExampleDatabase_SQL() {
	t, done := newTest() // in a test: its *testing.T
	defer done()
	db := postgrestest.New(t).SQL(t)

	var entries int
	err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM outbox").Scan(&entries)
	fmt.Println(entries, err)
	// Output: 0 <nil>
}

// newTest stands in for the *testing.T, which an example does not have.
func newTest() (t testing.TB, done func()) {
	e := &example{}
	return e, e.end
}

type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Context() context.Context          { return context.Background() }
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Log(...any)                        {}
func (e *example) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}
