package outboxtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
)

// shop is an application under test.
type shop struct {
	store     *memstore.Store
	publisher *outbox.Publisher[*memstore.Tx]
}

func (s shop) confirm(ctx context.Context, order string) error {
	tx := s.store.Begin()
	_, err := s.publisher.Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders",
		EventType: "order.confirmed", AggregateID: order, Payload: map[string]string{"order": order},
	})
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// A test says which entries an application has published, with the fields that matter to it.
func ExampleAdded() {
	t := &reporter{} // in a test: the *testing.T
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}

	got := outboxtest.Added(t, outboxtest.Memory(store), func() { _ = app.confirm(t.Context(), "order-42") })
	outboxtest.Expect(t, got, outbox.Entry{Destination: "orders", EventType: "order.confirmed", AggregateID: "order-42"})
	fmt.Println("as expected:", !t.Failed())

	outboxtest.Expect(t, got, outbox.Entry{Destination: "invoices"})
	// Output:
	// as expected: true
	// outboxtest: entry 0: destination is "orders", want "invoices"
}

// Only the fields that are set count, and a payload by its meaning.
func ExampleExpect() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	got := outboxtest.Added(t, outboxtest.Memory(store), func() { _ = app.confirm(t.Context(), "order-42") })

	outboxtest.Expect(t, got, outbox.Entry{Payload: json.RawMessage(`{ "order" : "order-42" }`)})
	outboxtest.Expect(t, got, outbox.Entry{Headers: map[string]string{"tenant": "acme"}})
	outboxtest.Expect(t, got)
	// Output:
	// outboxtest: entry 0: header "tenant" is "" (there: false), want "acme"
	// outboxtest: 1 entries were published, want 0: order.confirmed to KAFKA "orders"
}

// A destination that fails once, and once loses its acknowledgement, gets a duplicate.
func ExampleDrain() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	_ = app.confirm(t.Context(), "order-42")

	broker := outboxtest.NewRecorder(destination.Kafka)
	down := errors.New("broker is down")
	for _, a := range outboxtest.Drain(t, store, outboxtest.NewFaulty(broker, outboxtest.Fail(down), outboxtest.FailAfter(down))) {
		fmt.Println("attempt", a.Envelope.Attempt, a.Verdict)
	}
	fmt.Println("delivered:", len(broker.Delivered()), "same id:", broker.Delivered()[0].MessageID == broker.Delivered()[1].MessageID)
	// Output:
	// attempt 1 retryable
	// attempt 2 retryable
	// attempt 3 delivered
	// delivered: 2 same id: true
}

// A tap knows what a transaction holds before it commits.
func ExampleTap() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	tap := outboxtest.NewTap[*memstore.Tx](store)
	publisher := outbox.NewPublisher(tap, outbox.Config{})

	tx := store.Begin()
	_, _ = publisher.Publish(t.Context(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
	})
	outboxtest.Expect(t, tap.In(tx), outbox.Entry{Destination: "orders", Payload: 42})
	fmt.Println("as expected:", !t.Failed(), "committed:", len(store.Rows()))
	// Output: as expected: true committed: 0
}

// reporter prints what a test would report.
type reporter struct {
	testing.TB
	failed bool
}

func (r *reporter) Helper()                  {}
func (r *reporter) Context() context.Context { return context.Background() }
func (r *reporter) Failed() bool             { return r.failed }
func (r *reporter) Errorf(format string, args ...any) {
	r.failed = true
	fmt.Printf(format+"\n", args...)
}

// stopped is what Fatalf panics with, in place of ending the goroutine.
type stopped struct{ text string }

func (r *reporter) Fatalf(format string, args ...any) { panic(stopped{fmt.Sprintf(format, args...)}) }
