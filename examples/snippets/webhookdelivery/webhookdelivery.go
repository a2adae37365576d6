// Package webhookdelivery sends signed webhooks from an outbox to a receiver with an inbox.
package webhookdelivery

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Run publishes a webhook and delivers it twice; the receiver books it once.
func Run(ctx context.Context, url string, out io.Writer) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	secret := webhook.NewSecret() // both sides know it

	var requests, booked atomic.Int32
	receiver, err := newReceiver(pool, secret, &requests, &booked)
	if err != nil {
		return err
	}
	server := httptest.NewServer(receiver)
	defer server.Close()

	// Entries name the endpoint by its id; where that is, is configuration.
	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: server.URL, Secrets: []webhook.Secret{secret},
		AllowInsecure: true, AllowPrivate: true, // the example's server is on this machine
	})
	if err != nil {
		return err
	}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		return err
	}
	defer func() { _ = handler.Close(context.WithoutCancel(ctx)) }()
	if err := publish(ctx, pool); err != nil {
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
	for range 2 {
		if _, err := node.Drain(ctx); err != nil {
			return err
		}
		// As if the outcome had been lost: the same entry, with the same message id, again.
		if _, err := pool.Exec(ctx, "UPDATE outbox SET state = 'PENDING', published_at = NULL"); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "requests:", requests.Load(), "booked:", booked.Load())
	return nil
}

func publish(ctx context.Context, pool *pgxpool.Pool) error {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.HTTP, Destination: "billing",
			EventType: "order.paid", AggregateID: "order-42", Payload: map[string]int{"cents": 1999},
		})
		return err
	})
}

// newReceiver is the other side, which could be another service with another database. The
// marker of a message commits together with what the work writes in tx.
func newReceiver(pool *pgxpool.Pool, secret webhook.Secret, requests, booked *atomic.Int32) (*webhook.Receiver[pgx.Tx], error) {
	processor, err := pgxtx.NewProcessor(pgxtx.Config{})
	if err != nil {
		return nil, err
	}
	return webhook.NewReceiver(webhook.ReceiverConfig[pgx.Tx]{
		Secrets: []webhook.Secret{secret}, Source: "shop/orders", Processor: processor,
		InTx: func(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
			requests.Add(1)
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return do(ctx, tx) })
		},
		Work: func(context.Context, pgx.Tx, webhook.Message) error {
			booked.Add(1)
			return nil
		},
	})
}
