package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// All problems of a configuration are reported at once.
func ExampleNewReceiver() {
	_, err := webhook.NewReceiver(webhook.ReceiverConfig[*memstore.Tx]{Source: "billing/orders"})
	fmt.Println(err)
	// Output:
	// satchel: webhook receiver: secrets are missing
	// satchel: webhook receiver: inbox processor is missing
	// satchel: webhook receiver: transaction function is missing
	// satchel: webhook receiver: work is missing
}

// Who does not know the secret learns nothing but a status.
func ExampleReceiver_ServeHTTP() {
	store := memstore.New(memstore.Config{})
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig[*memstore.Tx]{
		Secrets:   []webhook.Secret{webhook.NewSecret()},
		Source:    "billing/orders",
		Processor: memstore.NewProcessor(store),
		InTx:      inTx(store),
		Work:      func(context.Context, *memstore.Tx, webhook.Message) error { return nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := httptest.NewRecorder()
		receiver.ServeHTTP(w, httptest.NewRequest(method, "/hooks", strings.NewReader(`{"order":42}`)))
		fmt.Println(method, w.Code)
	}
	// Output:
	// GET 405
	// POST 400
}

// The work tells the sender by its error whether sending again has a point.
func ExampleReceiverConfig() {
	secret := webhook.NewSecret()
	store := memstore.New(memstore.Config{})
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig[*memstore.Tx]{
		Secrets:   []webhook.Secret{secret},
		Source:    "billing/orders",
		Processor: memstore.NewProcessor(store),
		InTx:      inTx(store),
		Work: func(context.Context, *memstore.Tx, webhook.Message) error {
			return delivery.Permanent(errors.New("no such order"))
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(receiver)
	defer server.Close()

	endpoints, _ := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: server.URL, Secrets: []webhook.Secret{secret}, AllowInsecure: true, AllowPrivate: true,
	})
	handler, _ := webhook.NewHandler(webhook.Config{Source: endpoints})
	defer handler.Close(context.Background())
	err = handler.Deliver(context.Background(), delivery.Envelope{
		MessageID: outbox.NewMessageID(), Destination: "billing", Payload: []byte(`{"order":42}`), ContentType: outbox.JSONContentType,
	})
	fmt.Println(delivery.VerdictOf(err), err)
	// Output: permanent webhook endpoint answered 422 Unprocessable Entity
}

// A secret shows nowhere, unless it is asked for.
func ExampleParseSecret() {
	secret, err := webhook.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	fmt.Println(secret, err)
	fmt.Println(secret.Reveal())

	_, err = webhook.ParseSecret("whsec_hunter2")
	fmt.Println(err)
	// Output:
	// [redacted] <nil>
	// whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
	// satchel: webhook secret is not standard base64, with or without the prefix whsec_
}
