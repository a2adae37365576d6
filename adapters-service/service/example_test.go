package service_test

import (
	"context"
	"fmt"
	"log"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// ChargeOrder is the payload of an operation.
type ChargeOrder struct {
	OrderID string `json:"orderId"`
	Cents   int64  `json:"cents"`
}

// Charge is shared by those who send and those who handle.
var Charge = service.MustOperation("billing.charge",
	service.WithAggregate("Order", func(c ChargeOrder) string { return c.OrderID }))

// An operation is sent in the producer's transaction and handled after its commit. The
// store of this example is in memory; with PostgreSQL the rest stays as it is.
func Example() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	registry := service.NewRegistry()
	err := service.Handle(registry, Charge, func(ctx context.Context, c ChargeOrder) error {
		m, _ := service.MessageFrom(ctx)
		fmt.Printf("charge %d cents for %s, attempt %d\n", c.Cents, m.AggregateID, m.Attempt)
		return nil
	}, service.HandlerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := service.NewHandler(registry, service.Config{})
	if err != nil {
		log.Fatal(err)
	}
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		log.Fatal(err)
	}

	for _, commit := range []bool{true, false} {
		tx := store.Begin()
		if _, err := service.Send(ctx, publisher, tx, Charge, ChargeOrder{OrderID: "order-42", Cents: 1999}); err != nil {
			log.Fatal(err)
		}
		if !commit {
			_ = tx.Rollback() // the second charge is never made
			continue
		}
		if err := tx.Commit(); err != nil {
			log.Fatal(err)
		}
	}
	attempts, err := node.Drain(ctx)
	fmt.Println("attempts:", attempts, "error:", err)
	// Output:
	// charge 1999 cents for order-42, attempt 1
	// attempts: 1 error: <nil>
}

// A function registered with HandleTx works in the transaction that settles its entry:
// here it sends the next step, and step and outcome commit together.
func ExampleHandleTx() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	ship := service.MustOperation[string]("shipping.ship")

	registry := service.NewRegistry()
	_ = service.HandleTx(registry, Charge, func(ctx context.Context, tx *memstore.Tx, c ChargeOrder) error {
		_, err := service.Send(ctx, publisher, tx, ship, c.OrderID)
		return err
	}, service.HandlerOptions{})
	_ = service.Handle(registry, ship, func(_ context.Context, orderID string) error {
		fmt.Println("ship", orderID)
		return nil
	}, service.HandlerOptions{})
	handler, err := service.NewHandler(registry, service.Config{}) // reports what Handle refused
	if err != nil {
		log.Fatal(err)
	}
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		log.Fatal(err)
	}

	tx := store.Begin()
	if _, err := service.Send(ctx, publisher, tx, Charge, ChargeOrder{OrderID: "order-42"}); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	if _, err := node.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: ship order-42
}

// A renamed operation goes on accepting entries that were sent under its old id.
func ExampleAlias() {
	registry := service.NewRegistry()
	renamed := service.Alias(service.MustOperation[ChargeOrder]("billing.charge"), "payments.charge-card")
	charge := func(context.Context, ChargeOrder) error { return nil }
	if err := service.Handle(registry, renamed, charge, service.HandlerOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Targets())
	fmt.Println(renamed.Entry(ChargeOrder{}).Destination)
	// Output:
	// [billing.charge payments.charge-card]
	// billing.charge
}

// What a node claims follows its registry while the relay runs.
func ExampleRegistry_Pause() {
	registry := service.NewRegistry()
	charge := func(context.Context, ChargeOrder) error { return nil }
	if err := service.Handle(registry, Charge, charge, service.HandlerOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Pause("billing.charge"), registry.Targets())
	fmt.Println(registry.Resume("billing.charge"), registry.Targets())
	// Output:
	// true []
	// true [billing.charge]
}
