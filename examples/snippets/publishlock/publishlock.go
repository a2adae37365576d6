// Package publishlock lets the publishers of one aggregate take turns.
package publishlock

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"

	"github.com/satchel-go/satchel/examples/snippets/internal/show"
)

const aggregate = "order-42"

// Run has two transactions publish for one order at the same time. Ids are given at insert,
// so without the lock those of the two could interleave, and the entry of the one that commits
// late could come before one that was delivered already. With the lock the order of the ids
// is the order of the commits.
func Run(ctx context.Context, url string, out io.Writer) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	writer, err := pgxtx.NewWriter(pgxtx.Config{})
	if err != nil {
		return err
	}
	publisher := outbox.NewPublisher(writer, outbox.Config{})
	publish := func(tx pgx.Tx, event string) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: event, AggregateID: aggregate, Payload: aggregate,
		})
		return err
	}

	second := make(chan error, 1)
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := writer.LockAggregate(ctx, tx, aggregate); err != nil {
			return err
		}
		if err := publish(tx, "order.placed"); err != nil {
			return err
		}
		go func() {
			second <- pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				// It waits here until the first transaction has ended.
				if err := writer.LockAggregate(ctx, tx, aggregate); err != nil {
					return err
				}
				return publish(tx, "order.shipped")
			})
		}()
		if err := waiting(ctx, pool); err != nil {
			return err
		}
		return publish(tx, "order.paid")
	})
	if err != nil {
		return err
	}
	if err := <-second; err != nil {
		return err
	}

	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	node, err := relay.New(store, []delivery.Handler{&show.Handler{Kind: destination.Kafka, Out: out}}, relay.Config{})
	if err != nil {
		return err
	}
	_, err = node.Drain(ctx)
	return err
}

// waiting returns once the other transaction is seen to wait, to make the example certain.
func waiting(ctx context.Context, pool *pgxpool.Pool) error {
	for n := 0; n == 0; {
		const query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
		if err := pool.QueryRow(ctx, query).Scan(&n); err != nil {
			return fmt.Errorf("look for the waiting transaction: %w", err)
		}
	}
	return nil
}
