package postgres_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Retention counts from the moment of delivery, by the database's clock. Package scheduler
// runs this every six hours, once per cluster.
func Example_cleanup() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))
	store := must(postgres.NewStore(pool, postgres.Config{}))
	node := must(relay.New(store, []delivery.Handler{outboxtest.NewRecorder(destination.Kafka)}, relay.Config{}))

	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		entry := outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42}
		_, err := publisher.PublishAll(ctx, tx, entry, entry)
		return err
	}))
	must(node.Drain(ctx))
	must(pool.Exec(ctx, "UPDATE outbox SET published_at = now() - interval '8 days' WHERE id = 1")) // as if a week had passed

	report, err := maintenance.Cleanup{Store: store, Config: maintenance.Config{PublishedRetention: 7 * maintenance.Day}}.Run(ctx)
	fmt.Println(report.Published.Deleted, report.Complete, err)
	// Output: 1 true <nil>
}

// What a crashed relay held is delivered by another once the lease is over and recovery has
// run; no attempt is charged.
func Example_recovery() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	publisher := must(pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{}))
	store := must(postgres.NewStore(pool, postgres.Config{}))
	check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
		})
		return err
	}))
	// A relay that claimed the entry and died; its lease is over at once.
	scope := must(claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()}))
	must(store.Open(relay.SessionOptions{Owner: "gone"}).Claim(ctx, relay.ClaimRequest{
		Limit: 1, RunLength: 1, Lease: time.Microsecond, Scope: scope,
	}))

	broker := outboxtest.NewRecorder(destination.Kafka)
	node := must(relay.New(store, []delivery.Handler{broker}, relay.Config{}))
	fmt.Println("delivered:", must(node.Drain(ctx)))
	report := must(maintenance.Recovery{Store: store}.Run(ctx))
	fmt.Println("returned:", report.Reclaimed.Returned)
	fmt.Println("delivered:", must(node.Drain(ctx)), "attempt:", broker.Delivered()[0].Attempt)
	// Output:
	// delivered: 0
	// returned: 1
	// delivered: 1 attempt: 1
}

// Of all nodes that are due at the same moment one does the job.
func ExampleStore_Exclusive() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	store := must(postgres.NewStore(pool, postgres.Config{}))

	for _, node := range []string{"node-1", "node-2"} {
		ran, err := store.Exclusive(ctx, "nightly-report", node, time.Hour, func(context.Context) (affected int64, err error) {
			fmt.Println(node, "writes the report")
			return 1, nil
		})
		fmt.Println(node, ran, err)
	}
	// Output:
	// node-1 writes the report
	// node-1 true <nil>
	// node-2 false <nil>
}

// Alarm on a job that has not succeeded for several of its periods: without recovery the
// entries of a crashed relay wait for ever.
func ExampleStore_LastRun() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	store := must(postgres.NewStore(pool, postgres.Config{}))
	healthy := func(job string, period time.Duration) bool {
		age, ok, err := store.LastRun(ctx, job)
		return err == nil && ok && age < 4*period
	}

	const job, period = "nightly-report", 24 * time.Hour
	fmt.Println(healthy(job, period))
	must(store.Exclusive(ctx, job, "node-1", period/2, func(context.Context) (int64, error) { return 0, nil }))
	fmt.Println(healthy(job, period))
	// Output:
	// false
	// true
}

// Under relay.Archive the archive needs a partition for each day to come. The scheduler makes
// them when its ArchiveDaysAhead is set.
func ExampleStore_MaintainArchive() {
	ctx := context.Background()
	pool, done := database()
	defer done()
	store := must(postgres.NewStore(pool, postgres.Config{}))

	dropped := must(store.MaintainArchive(ctx, 7, 90))
	var partitions int
	check(pool.QueryRow(ctx, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox_archive'::regclass").Scan(&partitions))
	fmt.Println(dropped, partitions) // the default partition, today's, and seven more
	// Output: 0 9
}
