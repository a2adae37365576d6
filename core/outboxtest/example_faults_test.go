package outboxtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// Each fault is one attempt of each message; after the script all goes well.
func ExampleFaulty() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	_ = app.confirm(t.Context(), "order-42")

	faulty := outboxtest.NewFaulty(outboxtest.NewRecorder(destination.Kafka),
		outboxtest.Fail(errors.New("timeout")),
		outboxtest.Panic("bug"),
		outboxtest.Pass(),
	)
	for _, a := range outboxtest.Drain(t, store, faulty) {
		fmt.Println(a.Verdict, a.Err)
	}
	fmt.Println("attempts:", faulty.Attempts(store.Rows()[0].MessageID))
	// Output:
	// retryable timeout
	// retryable satchel: handler panicked with a string
	// delivered <nil>
	// attempts: 3
}

// The verdict is chosen by marking the error.
func ExampleFail() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	_ = app.confirm(t.Context(), "order-42")

	refuse := outboxtest.Fail(delivery.Permanent(errors.New("no such topic")))
	outboxtest.Drain(t, store, outboxtest.NewFaulty(outboxtest.NewRecorder(destination.Kafka), refuse))
	fmt.Println(store.Rows()[0].State)
	// Output: DEAD_LETTER
}

// A delivery that hangs ends with its context.
func ExampleHang() {
	hanging := outboxtest.NewFaulty(outboxtest.NewRecorder(destination.Kafka), outboxtest.Hang())
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // in a relay: the delivery timeout, or the end of the relay
	fmt.Println(hanging.Deliver(ctx, delivery.Envelope{}))
	// Output: context canceled
}

// A test of a running relay waits for what is delivered, and not for time to pass.
func ExampleRecorder() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	broker := outboxtest.NewRecorder(destination.Kafka, "orders")
	r, err := relay.New(store, []delivery.Handler{broker}, relay.Config{Waker: store.Waker()})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()

	fmt.Println(app.confirm(ctx, "order-42"))
	got, err := broker.Wait(ctx, 1)
	fmt.Println(got[0].EventType, string(got[0].Payload), err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// order.confirmed {"order":"order-42"} <nil>
	// <nil>
}

// A source can be anything that knows entries: here only those that were not settled.
func ExampleSourceFunc() {
	t := &reporter{}
	store := memstore.New(memstore.Config{})
	app := shop{store, memstore.NewPublisher(store, outbox.Config{})}
	open := outboxtest.SourceFunc(func(context.Context) (found []outbox.Record, err error) {
		for _, row := range store.Rows() {
			if !row.State.Settled() {
				found = append(found, row.Record)
			}
		}
		return found, nil
	})

	got := outboxtest.Added(t, open, func() { _ = app.confirm(t.Context(), "order-42") })
	outboxtest.Expect(t, got, outbox.Entry{EventType: "order.confirmed"})
	fmt.Println("as expected:", !t.Failed())
	// Output: as expected: true
}
