package delivery_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// FollowUp answers each entry with another one, in the transaction that settles it.
type FollowUp struct {
	publisher *outbox.Publisher[*memstore.Tx]
}

// Type is what it serves.
func (FollowUp) Type() destination.Type { return destination.Service }

// Scope is every destination of the type.
func (FollowUp) Scope() claim.Scope { return claim.All() }

// InTx asks for the transaction, for every entry.
func (FollowUp) InTx(delivery.Envelope) bool { return true }

// DeliverTx gets the transaction of the relay's store: with PostgreSQL a pgx.Tx.
func (f FollowUp) DeliverTx(ctx context.Context, tx any, e delivery.Envelope) error {
	_, err := f.publisher.Publish(ctx, tx.(*memstore.Tx), outbox.Entry{
		DestinationType: destination.Kafka, Destination: "invoices", EventType: "invoice.sent",
		AggregateID: e.AggregateID, Payload: map[string]string{"for": e.AggregateID},
	})
	return err
}

// Deliver is called with stores that lend no transactions; this handler needs one.
func (FollowUp) Deliver(context.Context, delivery.Envelope) error {
	return delivery.Permanent(fmt.Errorf("the store lends no transactions"))
}

// The effect of a handler in the store's database happens exactly once when the handler
// works in the transaction that settles its entry.
func ExampleTxHandler() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	tx := store.Begin()
	_, _ = publisher.Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Service, Destination: "billing", EventType: "order.confirmed",
		AggregateID: "order-42", Payload: struct{}{},
	})
	_ = tx.Commit()

	r, err := relay.New(store, []delivery.Handler{FollowUp{publisher}}, relay.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Drain(ctx))
	for _, row := range store.Rows() {
		fmt.Println(row.EventType, row.State)
	}
	// Output:
	// 1 <nil>
	// order.confirmed PUBLISHED
	// invoice.sent PENDING
}
