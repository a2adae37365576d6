package memstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// A test of application code looks at what would be delivered, without a relay.
func Example() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})

	tx := store.Begin()
	_, err := publisher.Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders",
		EventType: "order.confirmed", AggregateID: "order-42",
		Payload: map[string]int{"total": 4200},
	})
	fmt.Println("published:", err == nil, "visible:", len(store.Rows()))
	fmt.Println("committed:", tx.Commit() == nil, "visible:", len(store.Rows()))

	row := store.Rows()[0]
	fmt.Println(row.State, row.Destination, string(row.Payload))
	// Output:
	// published: true visible: 0
	// committed: true visible: 1
	// PENDING orders {"total":4200}
}

// A session does by hand what a relay does in its loop.
func ExampleStore_Open() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	_, _ = memstore.NewPublisher(store, outbox.Config{}).PublishAll(ctx, tx,
		outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", AggregateID: "order-42", Payload: 1},
		outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", EventType: "order.shipped", AggregateID: "order-42", Payload: 2},
	)
	_ = tx.Commit()

	scope, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})
	session := store.Open(relay.SessionOptions{Owner: "node-1", OnPublished: relay.Keep})
	for {
		batch, _ := session.Claim(ctx, relay.ClaimRequest{Limit: 10, RunLength: 1, Lease: time.Minute, Scope: scope})
		if len(batch.Records) == 0 {
			break
		}
		for _, r := range batch.Records {
			o := relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID}
			recorded, _ := session.Settle(ctx, []relay.Outcome{o}, []relay.LeaseID{batch.Lease})
			fmt.Println(r.EventType, recorded)
		}
	}
	// Output:
	// order.confirmed [true]
	// order.shipped [true]
}
