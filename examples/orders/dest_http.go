package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// secretVariable holds the key with which nodes sign and the consumer verifies. The
// demo makes a new one for each run.
const secretVariable = "ORDERS_WEBHOOK_SECRET"

// viaHTTP sends signed webhooks to three endpoints of the consumer.
type viaHTTP struct {
	byStep
	publisher *outbox.Publisher[pgx.Tx]
}

func openHTTP(string) (transport, error) {
	publisher, err := newPublisher()
	return &viaHTTP{publisher: publisher}, err
}

func (v *viaHTTP) publish(ctx context.Context, tx pgx.Tx, events ...OrderEvent) error {
	entries := make([]outbox.Entry, len(events))
	for i, e := range events {
		entries[i] = e.entry(destination.HTTP, v.route(e))
	}
	_, err := v.publisher.PublishAll(ctx, tx, entries...)
	return err
}

func (v *viaHTTP) handler(n *node) (delivery.Handler, func(), error) {
	secret, err := webhook.ParseSecret(os.Getenv(secretVariable))
	if err != nil {
		return nil, nil, err
	}
	// An entry holds the id of its endpoint only; the address is this node's business.
	endpoints := &webhook.Registry{}
	for _, name := range n.hosted {
		err := endpoints.Set(webhook.Endpoint{
			ID: name, URL: n.consumer + "/" + name, Secrets: []webhook.Secret{secret},
			AllowInsecure: true, AllowPrivate: true, // the consumer listens on the loopback interface
		})
		if err != nil {
			return nil, nil, err
		}
	}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		return nil, nil, err
	}
	return handler, func() { _ = handler.Close(context.Background()) }, nil // each delivery has its own time limit
}

// consume serves a receiver for each endpoint.
func (v *viaHTTP) consume(ctx context.Context, c *consumer, ready func(string)) error {
	secret, err := webhook.ParseSecret(os.Getenv(secretVariable))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, name := range v.names() {
		receiver, err := webhook.NewReceiver(webhook.ReceiverConfig[pgx.Tx]{
			Secrets:   []webhook.Secret{secret},
			Source:    name,
			Processor: c.processor,
			InTx:      c.inTx,
			Work: func(ctx context.Context, tx pgx.Tx, m webhook.Message) error {
				var e OrderEvent
				if err := json.Unmarshal(m.Body, &e); err != nil {
					return delivery.Permanent(err)
				}
				return c.apply(ctx, tx, name, e)
			},
			Logger: c.logger,
		})
		if err != nil {
			return err
		}
		mux.Handle("/"+name, receiver)
	}
	return serve(ctx, mux, ready)
}

func (v *viaHTTP) prepare(context.Context) (stage, error) {
	return signed{secret: webhook.NewSecret()}, nil
}

// signed is the stage of viaHTTP.
type signed struct {
	direct
	secret webhook.Secret
}

func (s signed) environment() []string { return []string{secretVariable + "=" + s.secret.Reveal()} }
