package storetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// published returns a store with one entry for Kafka.
func published() *memstore.Store {
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	_, _ = memstore.NewPublisher(store, outbox.Config{}).Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
	})
	_ = tx.Commit()
	return store
}

// The first claim fails: a retryable error, and nothing was claimed.
func ExampleFlaky() {
	store := storetest.Flaky(published(), storetest.Plan{{Op: storetest.OpClaim, Call: 1}})
	scope, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})
	session := store.Open(relay.SessionOptions{Owner: "node-1"})
	for range 2 {
		batch, err := session.Claim(context.Background(), relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: relay.DefaultLeaseTimeout, Scope: scope})
		fmt.Println(len(batch.Records), errors.Is(err, storetest.ErrInjected), fault.Retryable(err))
	}
	fmt.Println("calls:", store.Calls(storetest.OpClaim))
	// Output:
	// 0 true true
	// 1 false false
	// calls: 2
}

// The answer to a settlement is lost after its commit. The relay repeats the call and
// learns that the entry is no longer its own; it was delivered once all the same.
func ExampleFault() {
	store := published()
	flaky := storetest.Flaky(store, storetest.Plan{{Op: storetest.OpSettle, Call: 1, When: storetest.After}})
	broker := outboxtest.NewRecorder(destination.Kafka)
	r, err := relay.New(flaky, []delivery.Handler{broker}, relay.Config{
		Observers: []relay.Observer{relay.ObserverFunc(func(_ context.Context, a relay.Attempt) {
			fmt.Println(a.Verdict, "recorded:", a.Recorded)
		})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = r.Drain(context.Background())
	fmt.Println(len(broker.Delivered()), store.Rows()[0].State, flaky.Calls(storetest.OpSettle))
	// Output:
	// delivered recorded: false
	// 1 PUBLISHED 2
}
