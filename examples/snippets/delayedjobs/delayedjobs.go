// Package delayedjobs records jobs in a transaction and runs them with asynq.
package delayedjobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Invoice is the payload of a job.
type Invoice struct {
	Order string `json:"order"`
}

// Run records a job in a transaction that commits and one in a transaction that does not,
// relays, and runs what arrived. queue keeps apart who shares the Redis.
func Run(ctx context.Context, url, redisURL, queue string, out io.Writer) error {
	// The contract, shared by those who record the job and those who run it.
	sendInvoice, err := delayedjob.NewJob[Invoice]("invoice.send", delayedjob.Defaults{Queue: queue})
	if err != nil {
		return err
	}
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return errors.New("the Redis URL cannot be read") // the cause would quote it
	}
	failFast := delayedjob.FailFast(*options)
	client := redis.NewClient(&failFast)
	defer func() { _ = client.Close() }()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()

	if err := record(ctx, pool, sendInvoice); err != nil {
		return err
	}

	// The relay's side: it needs the ids of jobs, not their code.
	registry, err := delayedjob.NewRegistry(sendInvoice.ID())
	if err != nil {
		return err
	}
	handler, err := delayedjob.NewHandler(delayedjob.Config{Client: client, Registry: registry, Namespace: queue})
	if err != nil {
		return err
	}
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		return err
	}
	if _, err := node.Drain(ctx); err != nil {
		return err
	}
	return work(ctx, client, sendInvoice, queue, out)
}

// record is the application: the job is written where the order is confirmed.
func record(ctx context.Context, pool *pgxpool.Pool, job delayedjob.Job[Invoice]) error {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	jobs, err := delayedjob.NewPublisher(publisher, nil)
	if err != nil {
		return err
	}
	outOfStock := errors.New("out of stock")
	for order, result := range map[string]error{"order-1": nil, "order-2": outOfStock} {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			// The option ScheduledAt names the time before which the job must not run.
			_, err := delayedjob.Publish(ctx, jobs, tx, job, Invoice{Order: order})
			return errors.Join(err, result)
		})
		if !errors.Is(err, result) {
			return err
		}
	}
	return nil
}

// work is the worker, which could be another process: it runs one job.
func work(ctx context.Context, client redis.UniversalClient, job delayedjob.Job[Invoice], queue string, out io.Writer) error {
	ran := make(chan Invoice, 1)
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		return err
	}
	err = delayedjob.HandleFunc(mux, job, func(ctx context.Context, in Invoice) error {
		id, known := delayedjob.MessageID(ctx) // for an inbox, if the effect must happen once
		if !known || id == (outbox.MessageID{}) {
			return asynq.SkipRetry
		}
		ran <- in
		return nil
	})
	if err != nil {
		return err
	}
	worker := asynq.NewServerFromRedisClient(client, asynq.Config{
		Queues: delayedjob.Queues(queue), TaskCheckInterval: 100 * time.Millisecond,
		LogLevel: asynq.FatalLevel,
	})
	if err := worker.Start(mux); err != nil {
		return err
	}
	defer worker.Shutdown()
	select {
	case in := <-ran:
		fmt.Fprintln(out, "invoice for", in.Order)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
