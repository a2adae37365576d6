package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// inTx is what an application writes once for its database.
func inTx(store *memstore.Store) func(context.Context, func(context.Context, *memstore.Tx) error) error {
	return func(ctx context.Context, do func(context.Context, *memstore.Tx) error) error {
		tx := store.Begin()
		if err := do(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
}

// A receiver does its work once, however often the webhook comes.
func Example() {
	secret := webhook.NewSecret()
	store := memstore.New(memstore.Config{})
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig[*memstore.Tx]{
		Secrets:   []webhook.Secret{secret},
		Source:    "billing/orders",
		Processor: memstore.NewProcessor(store),
		InTx:      inTx(store),
		Work: func(_ context.Context, _ *memstore.Tx, m webhook.Message) error {
			fmt.Printf("%s: %s\n", m.EventType, m.Body)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(receiver)
	defer server.Close()

	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID:            "billing",
		URL:           server.URL,
		Secrets:       []webhook.Secret{secret},
		AllowInsecure: true, // the test server speaks http
		AllowPrivate:  true, // and listens on this machine
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

	// A relay makes the envelope from an entry with DestinationType destination.HTTP.
	entry := delivery.Envelope{
		MessageID:       outbox.NewMessageID(),
		DestinationType: destination.HTTP,
		Destination:     "billing",
		EventType:       "order.placed",
		ContentType:     outbox.JSONContentType,
		Payload:         []byte(`{"order":42}`),
	}
	fmt.Println(handler.Deliver(context.Background(), entry))
	fmt.Println(handler.Deliver(context.Background(), entry)) // a duplicate
	// Output:
	// order.placed: {"order":42}
	// <nil>
	// <nil>
}

// All problems are reported at once, and none repeats a value.
func ExampleNewRegistry() {
	_, err := webhook.NewRegistry(webhook.Endpoint{ID: "a", URL: "http://10.0.0.1/token"})
	fmt.Println(err)
	// Output:
	// webhook endpoint 0: satchel: url has the scheme http, which has to be allowed explicitly
	// satchel: url has an address that is not public, which has to be allowed explicitly
	// satchel: secrets are missing
}

// While a secret is replaced, both sides know the old and the new one.
func ExampleRegistry_Set() {
	before, after := webhook.NewSecret(), webhook.NewSecret()
	endpoints, _ := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: "https://billing.example/hooks", Secrets: []webhook.Secret{before},
	})
	endpoint, _ := endpoints.Endpoint("billing")
	endpoint.Secrets = []webhook.Secret{after, before}
	fmt.Println(endpoints.Set(endpoint))
	fmt.Println(endpoint, endpoint.Secrets)
	// Output:
	// <nil>
	// webhook endpoint "billing" [[redacted] [redacted]]
}

func ExampleVerify() {
	secret, _ := webhook.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	header := http.Header{}
	header.Set("webhook-id", "msg_1")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1,AAAA")
	err := webhook.Verify(header, []byte(`{}`), []webhook.Secret{secret}, webhook.DefaultTolerance)
	fmt.Println(errors.Is(err, webhook.ErrSignature))
	// Output: true
}

func ExampleStatusError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
	}))
	defer server.Close()
	endpoints, _ := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: server.URL, Secrets: []webhook.Secret{webhook.NewSecret()}, AllowInsecure: true, AllowPrivate: true,
	})
	handler, _ := webhook.NewHandler(webhook.Config{Source: endpoints})
	defer handler.Close(context.Background())

	err := handler.Deliver(context.Background(), delivery.Envelope{Destination: "billing", MessageID: outbox.NewMessageID()})
	var status *webhook.StatusError
	if errors.As(err, &status) && status.Code == http.StatusGone {
		endpoints.Remove("billing") // as a relay's observer might
	}
	fmt.Println(delivery.VerdictOf(err), err, endpoints.IDs())
	// Output: permanent webhook endpoint answered 410 Gone []
}
