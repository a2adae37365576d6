package service_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// attempt gives a handler one entry, as a relay would.
func attempt(h *service.Handler, e outbox.Entry) error {
	return h.Deliver(context.Background(), delivery.Envelope{
		MessageID: outbox.NewMessageID(), DestinationType: e.DestinationType, Destination: e.Destination,
		EventType: e.EventType, AggregateID: e.AggregateID, Headers: e.Headers,
		Payload: []byte(`{"orderId":"order-42","cents":1999}`), ContentType: outbox.JSONContentType, Attempt: 1,
	})
}

// What a function returns decides what becomes of the entry.
func ExampleHandle() {
	registry := service.NewRegistry()
	_ = service.Handle(registry, Charge, func(ctx context.Context, c ChargeOrder) error {
		if c.Cents > 1000 {
			return delivery.Permanent(errors.New("the limit is 10"))
		}
		return nil
	}, service.HandlerOptions{})
	handler, err := service.NewHandler(registry, service.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = attempt(handler, Charge.Entry(ChargeOrder{}))
	fmt.Println(delivery.VerdictOf(err), err)

	ship := service.MustOperation[string]("shipping.ship") // hosted by another node, perhaps
	err = attempt(handler, ship.Entry("order-42"))
	fmt.Println(delivery.VerdictOf(err), errors.Is(err, service.ErrUnknownTarget))
	// Output:
	// permanent the limit is 10
	// unresolvable true
}

// Registrations that failed are reported together, before the relay starts.
func ExampleNewHandler() {
	registry := service.NewRegistry()
	charge := func(context.Context, ChargeOrder) error { return nil }
	_ = service.Handle(registry, Charge, charge, service.HandlerOptions{})
	_ = service.Handle(registry, Charge, charge, service.HandlerOptions{})

	_, err := service.NewHandler(registry, service.Config{})
	var duplicate *service.DuplicateError
	fmt.Println(errors.As(err, &duplicate), duplicate.Target)
	// Output: true billing.charge
}

// A middleware surrounds every call, here to note what was handled.
func ExampleMiddleware() {
	registry := service.NewRegistry()
	_ = service.Handle(registry, Charge, func(context.Context, ChargeOrder) error { return nil }, service.HandlerOptions{})
	note := func(ctx context.Context, m service.Message, next func(context.Context) error) error {
		err := next(ctx)
		fmt.Println(m.Operation, "attempt", m.Attempt, "error:", err)
		return err
	}
	handler, err := service.NewHandler(registry, service.Config{Middleware: []service.Middleware{note}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = attempt(handler, Charge.Entry(ChargeOrder{}))
	// Output: billing.charge attempt 1 error: <nil>
}

// A function that may be called twice for one entry gives the message id to an inbox.
func ExampleMessageFrom() {
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)
	registry := service.NewRegistry()
	_ = service.Handle(registry, Charge, func(ctx context.Context, c ChargeOrder) error {
		m, _ := service.MessageFrom(ctx)
		tx := store.Begin()
		defer tx.Rollback()
		ran, err := processor.Once(ctx, tx, inbox.Message{ID: m.ID.String(), Source: m.Operation}, func(context.Context) error {
			fmt.Println("charge", c.OrderID)
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println("ran:", ran)
		return tx.Commit()
	}, service.HandlerOptions{})
	handler, err := service.NewHandler(registry, service.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := delivery.Envelope{MessageID: outbox.NewMessageID(), Destination: Charge.ID(), Payload: []byte(`{"orderId":"order-42"}`), ContentType: outbox.JSONContentType}
	for range 2 { // the relay died before it could record the first delivery
		if err := handler.Deliver(context.Background(), e); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// charge order-42
	// ran: true
	// ran: false
}

// A payload that does not decode is tried again, since a newer version of the consumer may
// understand it; the error tells what was wrong and repeats nothing of it.
func ExampleDecodeError() {
	registry := service.NewRegistry()
	ship := service.MustOperation[string]("shipping.ship")
	_ = service.Handle(registry, ship, func(context.Context, string) error { return nil }, service.HandlerOptions{})
	handler, err := service.NewHandler(registry, service.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = attempt(handler, ship.Entry("order-42")) // attempt sends an object
	var wrong *service.DecodeError
	fmt.Println(delivery.VerdictOf(err), errors.As(err, &wrong))
	fmt.Println(err)
	// Output:
	// retryable true
	// operation "shipping.ship" expects string: payload has a JSON object where string is expected, at offset 1
}
