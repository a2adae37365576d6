package relay_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// printed publishes entries for a [Printer], each in an aggregate of its own.
func printed(store *memstore.Store, events ...string) error {
	tx := store.Begin()
	publisher := memstore.NewPublisher(store, outbox.Config{})
	for _, event := range events {
		if _, err := publisher.Publish(context.Background(), tx, outbox.Entry{
			DestinationType: "PRINT", Destination: "console", EventType: event, Payload: struct{}{},
		}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// A service runs its relay until it is told to stop. Run then stops in order.
func ExampleRelay_Run() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New(memstore.Config{})
	console := outboxtest.NewRecorder("PRINT")
	r, err := relay.New(store, []delivery.Handler{console}, relay.Config{Waker: store.Waker()})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()

	if err := printed(store, "order.placed"); err != nil {
		fmt.Println(err)
	}
	_, _ = console.Wait(ctx, 1)
	stop()
	fmt.Println(<-ended)
	fmt.Println(console.Delivered()[0].EventType, store.Rows()[0].State)
	// Output:
	// <nil>
	// order.placed PUBLISHED
}

// Who commits in the same process can give a hint; without it, and without a Waker, the
// entry would be found by polling, here within an hour.
func ExampleRelay_Wake() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New(memstore.Config{})
	console := outboxtest.NewRecorder("PRINT")
	r, err := relay.New(store, []delivery.Handler{console}, relay.Config{
		Strategy: relay.Polling, PollingInterval: time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()

	err = printed(store, "order.placed")
	r.Wake()
	got, _ := console.Wait(ctx, 1)
	fmt.Println(got[0].EventType, err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// order.placed <nil>
	// <nil>
}

// A host with a scheduler of its own makes one claim at a time.
func ExampleRelay_RunOnce() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	if err := printed(store, "one", "two", "three"); err != nil {
		fmt.Println(err)
	}
	r, err := relay.New(store, []delivery.Handler{outboxtest.NewRecorder("PRINT")}, relay.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		fmt.Println(r.RunOnce(ctx, 2))
	}
	_, err = r.RunOnce(ctx, 0)
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// 1 <nil>
	// 0 <nil>
	// satchel: relay limit is not between 1 and 10000
}

// A failed entry waits for its backoff: a Drain leaves it behind, and returns no error.
func ExampleRelay_Drain() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	if err := printed(store, "order.placed"); err != nil {
		fmt.Println(err)
	}
	failing := outboxtest.NewFaulty(outboxtest.NewRecorder("PRINT"), outboxtest.Fail(errors.New("no paper")))
	r, err := relay.New(store, []delivery.Handler{failing}, relay.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Drain(ctx))
	row := store.Rows()[0]
	fmt.Println(row.State, row.Attempt, row.LastError)
	// Output:
	// 1 <nil>
	// PENDING 1 no paper
}

// New says all that is wrong at once.
func ExampleNew() {
	_, err := relay.New(nil, []delivery.Handler{Printer{}, Printer{}}, relay.Config{BatchSize: -1})
	fmt.Println(fault.IsInvalid(err))
	fmt.Println(err)
	// Output:
	// true
	// satchel: relay store is nil
	// satchel: destination type PRINT has two handlers: relay_test.Printer and relay_test.Printer
	// satchel: relay batchSize is not between 1 and 10000
}
