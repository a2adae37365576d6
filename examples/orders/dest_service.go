package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
)

// The operations, which are the destinations.
var (
	Billing  = operation("orders.billing", "order.placed")
	Shipping = operation("orders.shipping", "order.paid")
	Mail     = operation("orders.mail", "order.shipped")

	operations = map[string]service.Operation[OrderEvent]{
		Billing.ID(): Billing, Shipping.ID(): Shipping, Mail.ID(): Mail,
	}
)

func operation(id, eventType string) service.Operation[OrderEvent] {
	return service.MustOperation(id,
		service.WithEventType[OrderEvent](eventType),
		service.WithAggregate("Order", func(e OrderEvent) string { return e.OrderID }))
}

// viaService calls a function inside the node for each event; it posts the event to
// the consumer.
type viaService struct {
	byStep
	publisher *outbox.Publisher[pgx.Tx]
}

func openService(string) (transport, error) {
	publisher, err := newPublisher()
	return &viaService{publisher: publisher}, err
}

func (v *viaService) publish(ctx context.Context, tx pgx.Tx, events ...OrderEvent) error {
	entries := make([]outbox.Entry, len(events))
	for i, e := range events {
		entries[i] = operations[v.route(e)].Entry(e)
	}
	_, err := v.publisher.PublishAll(ctx, tx, entries...)
	return err
}

func (v *viaService) handler(n *node) (delivery.Handler, func(), error) {
	registry := service.NewRegistry()
	forwarder := newForwarder(n.consumer, nodeConcurrency)
	for _, name := range n.hosted {
		_ = service.Handle(registry, operations[name], forwarder.forward, service.HandlerOptions{Timeout: 20 * time.Second})
	}
	handler, err := service.NewHandler(registry, service.Config{}) // reports what Handle refused
	return handler, forwarder.client.CloseIdleConnections, err
}

// consume serves the forwarders of the nodes.
func (v *viaService) consume(ctx context.Context, c *consumer, ready func(string)) error {
	return serve(ctx, v.routes(c), ready)
}

func (v *viaService) routes(c *consumer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		var m wireMessage
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&m); err != nil {
			http.Error(w, "malformed message", http.StatusBadRequest)
			return
		}
		// A node that goes away must not undo what is half done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 10*time.Second)
		defer cancel()
		if err := c.once(ctx, inbox.Message{ID: m.MessageID, Source: m.Destination}, m.Destination, m.Event); err != nil {
			c.logger.Warn("message not applied", "error", err)
			http.Error(w, "not applied", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func (v *viaService) prepare(context.Context) (stage, error) { return direct{}, nil }
