package service_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// An operation refuses at its declaration what no entry could carry.
func ExampleNewOperation() {
	_, err := service.NewOperation[ChargeOrder]("")
	fmt.Println(err)
	_, err = service.NewOperation[func()]("billing.charge")
	fmt.Println(err)
	charge, err := service.NewOperation("billing.charge", service.WithEventType[ChargeOrder]("charge.requested"))
	fmt.Println(charge, err)
	// Output:
	// satchel: operation id is blank
	// satchel: operation payload type func() has no JSON form
	// billing.charge <nil>
}

// Options are about one entry: when, how often, with what beside the payload.
func ExampleSend() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	id, err := service.Send(ctx, publisher, tx, Charge, ChargeOrder{OrderID: "order-42", Cents: 1999},
		service.ScheduledAt(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)),
		service.WithHeaders(map[string]string{"tenant": "acme"}),
		service.WithMaxAttempts(5))
	fmt.Println(id, err, tx.Commit())

	row := store.Rows()[0]
	fmt.Println(row.AggregateType, row.AggregateID, row.ScheduledAt.Format(time.DateOnly), string(row.Headers), row.MaxAttempts)
	// Output:
	// 1 <nil> <nil>
	// Order order-42 2030-01-01 {"tenant":"acme"} 5
}

// The ids come back in the order of the payloads, which is the order of handling for one
// order.
func ExampleSendAll() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	ids, err := service.SendAll(ctx, publisher, tx, Charge, []ChargeOrder{{"order-42", 1999}, {"order-42", 500}})
	fmt.Println(ids, err, tx.Commit())
	// Output: [1 2] <nil> <nil>
}

// Entry serves where several operations are sent in one statement, and in tests.
func ExampleOperation_Entry() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	ship := service.MustOperation[string]("shipping.ship")

	tx := store.Begin()
	ids, err := publisher.PublishAll(ctx, tx, Charge.Entry(ChargeOrder{OrderID: "order-42"}), ship.Entry("order-42"))
	fmt.Println(ids, err, tx.Commit())

	for _, row := range store.Rows() {
		fmt.Println(row.Destination, string(row.Payload))
	}
	// Output:
	// [1 2] <nil> <nil>
	// billing.charge {"orderId":"order-42","cents":0}
	// shipping.ship "order-42"
}
