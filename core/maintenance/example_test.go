package maintenance_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// storeWith returns a store with one entry for Kafka.
func storeWith(event string) *memstore.Store {
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	_, _ = memstore.NewPublisher(store, outbox.Config{}).Publish(context.Background(), tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: event, Payload: 42,
	})
	_ = tx.Commit()
	return store
}

// aged is a store whose delivered entries are all old: an example cannot wait for days.
type aged struct{ *memstore.Store }

func (s aged) DeletePublished(ctx context.Context, _ time.Duration, batch int) (int, error) {
	return s.Store.DeletePublished(ctx, 0, batch)
}

// One run of the job that deletes old rows, as a scheduler would start it.
func ExampleCleanup() {
	ctx := context.Background()
	store := storeWith("order.confirmed")
	r, err := relay.New(store, []delivery.Handler{outboxtest.NewRecorder(destination.Kafka)}, relay.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = r.Drain(ctx)
	time.Sleep(time.Millisecond) // older than 0

	cleanup := maintenance.Cleanup{
		Store: aged{store},
		Config: maintenance.Config{
			PublishedRetention:  3 * maintenance.Day,
			DeadLetterRetention: maintenance.Forever,
		},
	}
	report, err := cleanup.Run(ctx)
	fmt.Println("deleted:", report.Published.Deleted, "complete:", report.Complete, err)
	fmt.Println("left:", len(store.Rows()))
	// Output:
	// deleted: 1 complete: true <nil>
	// left: 0
}

// A relay claims an entry and is never heard of again. Recovery takes the entry back, and
// charges it no attempt.
func ExampleRecovery() {
	ctx := context.Background()
	store := storeWith("order.confirmed")
	scope, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})
	crashed := store.Open(relay.SessionOptions{Owner: "node-1"})
	_, _ = crashed.Claim(ctx, relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: time.Microsecond, Scope: scope})
	fmt.Println(store.Rows()[0].State, store.Rows()[0].Owner)
	time.Sleep(time.Millisecond) // the lease expires

	report, err := maintenance.Recovery{Store: store}.Run(ctx)
	fmt.Println("returned:", report.Reclaimed.Returned, "complete:", report.Complete, err)
	fmt.Println(store.Rows()[0].State, store.Rows()[0].Attempt)
	// Output:
	// PROCESSING node-1
	// returned: 1 complete: true <nil>
	// PENDING 0
}

// An entry whose relays crash again and again is given up in the end.
func ExampleConfig() {
	ctx := context.Background()
	store := storeWith("order.confirmed")
	scope, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})
	recovery := maintenance.Recovery{Store: store, Config: maintenance.Config{MaxClaims: 2}}
	for range 2 {
		crashing := store.Open(relay.SessionOptions{Owner: "node-1"})
		_, _ = crashing.Claim(ctx, relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: time.Microsecond, Scope: scope})
		time.Sleep(time.Millisecond)
		report, err := recovery.Run(ctx)
		fmt.Println("given up:", report.Reclaimed.DeadLettered, err)
	}
	fmt.Println(store.Rows()[0].State, store.Rows()[0].LastError)
	// Output:
	// given up: 0 <nil>
	// given up: 1 <nil>
	// DEAD_LETTER claimed 2 times in a row without an outcome
}

// Settings can be checked before a scheduler runs the jobs.
func ExampleConfig_Validate() {
	fmt.Println(maintenance.Config{}.Validate()) // every default is in place
	fmt.Println(maintenance.Config{PublishedRetention: -maintenance.Day, BatchSize: 20_000}.Validate())
	// Output:
	// <nil>
	// satchel: maintenance publishedRetention is shorter than 1m0s
	// satchel: maintenance batchSize is not between 1 and 10000
}

// A job without a store is refused when it runs.
func ExampleCleanup_Run() {
	_, err := maintenance.Cleanup{}.Run(context.Background())
	fmt.Println(err)
	// Output: satchel: maintenance store is nil
}
