package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// An entry goes from a transaction through the relay to an endpoint, which checks the
// signature with any library for Standard Webhooks, or with Verify.
func ExampleNewHandler() {
	ctx := context.Background()
	secret := webhook.NewSecret()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Header.Get("Satchel-Event-Type"), string(body))
		fmt.Println("verified:", webhook.Verify(r.Header, body, []webhook.Secret{secret}, 0) == nil)
	}))
	defer server.Close()

	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: server.URL, Secrets: []webhook.Secret{secret},
		AllowInsecure: true, AllowPrivate: true, // the test server speaks http, on this machine
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer handler.Close(context.Background())

	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	_, err = memstore.NewPublisher(store, outbox.Config{}).Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.HTTP, Destination: "billing", EventType: "order.placed", Payload: map[string]int{"order": 42},
	})
	if err := errors.Join(err, tx.Commit()); err != nil {
		fmt.Println(err)
		return
	}
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(node.Drain(ctx))
	// Output:
	// order.placed {"order":42}
	// verified: true
	// 1 <nil>
}

// What an endpoint answers decides what becomes of the entry.
func ExampleHandler_Deliver() {
	answers := map[string]int{"fine": http.StatusNoContent, "busy": http.StatusServiceUnavailable, "gone": http.StatusGone}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(answers[r.URL.Path[1:]])
	}))
	defer server.Close()
	endpoints := &webhook.Registry{}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer handler.Close(context.Background())

	for _, id := range []string{"fine", "busy", "gone"} {
		err := endpoints.Set(webhook.Endpoint{
			ID: id, URL: server.URL + "/" + id, Secrets: []webhook.Secret{webhook.NewSecret()}, AllowInsecure: true, AllowPrivate: true,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		err = handler.Deliver(context.Background(), delivery.Envelope{Destination: id, MessageID: outbox.NewMessageID()})
		fmt.Println(id, delivery.VerdictOf(err), delivery.WaitOf(err))
	}
	err = handler.Deliver(context.Background(), delivery.Envelope{Destination: "nobody", MessageID: outbox.NewMessageID()})
	fmt.Println("nobody", delivery.VerdictOf(err), errors.Is(err, webhook.ErrUnknownEndpoint))
	// Output:
	// fine delivered 0s
	// busy retryable 2m0s
	// gone permanent 0s
	// nobody unresolvable true
}

// A request never leaves the public internet unless its endpoint says so, whatever its URL's
// name resolves to.
func ExampleErrPrivateAddress() {
	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID: "customer", URL: "https://localhost/hooks", Secrets: []webhook.Secret{webhook.NewSecret()}, Timeout: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer handler.Close(context.Background())

	err = handler.Deliver(context.Background(), delivery.Envelope{Destination: "customer", MessageID: outbox.NewMessageID()})
	fmt.Println(delivery.VerdictOf(err), errors.Is(err, webhook.ErrPrivateAddress))
	// Output: permanent true
}

// An endpoint that nobody can reach costs no attempt: the relay pauses it until it is back.
func ExampleRequestError() {
	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: "http://127.0.0.1:1", Secrets: []webhook.Secret{webhook.NewSecret()}, AllowInsecure: true, AllowPrivate: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := webhook.NewHandler(webhook.Config{Source: endpoints})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer handler.Close(context.Background())

	err = handler.Deliver(context.Background(), delivery.Envelope{Destination: "billing", MessageID: outbox.NewMessageID()})
	var failed *webhook.RequestError
	fmt.Println(delivery.VerdictOf(err), errors.As(err, &failed), failed.Connected)
	// Output: unavailable true false
}
