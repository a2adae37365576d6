package delayedjob_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
)

// task is what asynq gives to a worker for an entry that a relay enqueued.
func task(id, payload string) *asynq.Task {
	return asynq.NewTaskWithHeaders("invoice.send", []byte(payload), map[string]string{"satchel-message-id": id})
}

// asynq runs a job at least once. The inbox makes its effect in a database happen once.
func ExampleMessageID() {
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = delayedjob.HandleFunc(mux, sendInvoice, func(ctx context.Context, in Invoice) error {
		id, ok := delayedjob.MessageID(ctx)
		if !ok {
			return fmt.Errorf("not from an outbox: %w", asynq.SkipRetry)
		}
		tx := store.Begin()
		defer tx.Rollback()
		ran, err := processor.Once(ctx, tx, inbox.Message{ID: id.String(), Source: sendInvoice.ID()}, func(context.Context) error {
			fmt.Println("invoice for order", in.Order)
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println("ran:", ran)
		return tx.Commit()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		if err := mux.ProcessTask(context.Background(), task("0190b3a0-7c4e-7d2a-8f00-0123456789ab", `{"order":7}`)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// invoice for order 7
	// ran: true
	// ran: false
}

// A payload that does not decode never reaches the function, and is not tried again.
func ExampleHandleFunc() {
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	send := func(_ context.Context, in Invoice) error {
		fmt.Println("invoice for order", in.Order)
		return nil
	}
	fmt.Println(delayedjob.HandleFunc(mux, sendInvoice, send))
	fmt.Println(delayedjob.HandleFunc(mux, sendInvoice, send))

	ctx := context.Background()
	fmt.Println(mux.ProcessTask(ctx, task("", `{"order":7}`)))
	err = mux.ProcessTask(ctx, task("", `{"order":"seven"}`))
	fmt.Println(err, errors.Is(err, asynq.SkipRetry))
	// Output:
	// <nil>
	// satchel: job "invoice.send" has a function already
	// invoice for order 7
	// <nil>
	// job "invoice.send": payload does not decode as delayedjob_test.Invoice: skip retry for the task true
}

// asynq's own mux adds middleware, and serves tasks that did not come through an outbox.
func ExampleMux_IDs() {
	jobs, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := delayedjob.HandleFunc(jobs, sendInvoice, func(context.Context, Invoice) error { return nil }); err != nil {
		fmt.Println(err)
		return
	}
	outer := asynq.NewServeMux()
	outer.Use(func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			fmt.Println("task", t.Type())
			return next.ProcessTask(ctx, t)
		})
	})
	for _, id := range jobs.IDs() {
		outer.Handle(id, jobs)
	}
	fmt.Println(outer.ProcessTask(context.Background(), task("", `{"order":7}`)))
	// Output:
	// task invoice.send
	// <nil>
}
