package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// stored publishes one entry and returns what a relay would find.
func stored(e outbox.Entry) (outbox.Record, error) {
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	if _, err := memstore.NewPublisher(store, outbox.Config{}).Publish(context.Background(), tx, e); err != nil {
		return outbox.Record{}, err
	}
	err := tx.Commit()
	return store.Rows()[0].Record, err
}

// Four fields are required. A value is marshalled, a document is taken as it is.
func ExampleEntry() {
	type confirmed struct {
		Order string `json:"order"`
		Cents int    `json:"cents"`
	}
	for _, payload := range []any{
		confirmed{Order: "42", Cents: 1999},
		json.RawMessage(`{"order":"42"}`),
	} {
		r, err := stored(outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: payload,
		})
		fmt.Println(string(r.Payload), err)
	}
	// Output:
	// {"order":"42","cents":1999} <nil>
	// {"order":"42"} <nil>
}

// Headers reach the destination beside the payload. Those with satchel's prefix are
// its own.
func ExampleEntry_headers() {
	e := outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
		Headers: map[string]string{"tenant": "acme"},
	}
	r, err := stored(e)
	fmt.Println(string(r.Headers), err)

	e.Headers["Satchel-Message-Id"] = "mine"
	_, err = stored(e)
	fmt.Println(err)
	// Output:
	// {"tenant":"acme"} <nil>
	// satchel: header "Satchel-Message-Id" has a key with the reserved prefix satchel-
}

// An entry can wait. Until then it holds back younger entries of its aggregate.
func ExampleEntry_scheduled() {
	at := time.Date(2040, 1, 1, 9, 0, 0, 0, time.UTC)
	r, err := stored(outbox.Entry{
		DestinationType: destination.DelayedJob, Destination: "reminder", EventType: "order.unpaid",
		AggregateID: "order-42", Payload: map[string]string{"order": "42"}, ScheduledAt: at,
	})
	fmt.Println(r.Due(), err)
	// Output: 2040-01-01 09:00:00 +0000 UTC <nil>
}

// What may or may not be a payload is said in full, so that nothing is stored by accident.
func ExampleEntry_payload() {
	for _, payload := range []any{nil, []byte("bytes"), make(chan int), json.RawMessage(`{"a":`)} {
		_, err := stored(outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: payload,
		})
		fmt.Println(err)
	}
	// Output:
	// satchel: payload is nil; for a JSON null give json.RawMessage("null")
	// satchel: payload is a []byte; say what it is with json.RawMessage or outbox.Raw
	// satchel: payload does not marshal to JSON: unsupported type chan int
	// satchel: payload is not valid JSON
}

// A raw payload is delivered byte for byte.
func ExampleRaw() {
	r, err := stored(outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed",
		Payload: outbox.Raw{ContentType: "application/x-protobuf", Data: []byte{0x08, 0x2a}},
	})
	fmt.Printf("%v %s % x %v\n", r.Raw(), r.ContentType, r.Payload, err)
	// Output: true application/x-protobuf 08 2a <nil>
}

// A message id is made by the publisher; it is what a consumer recognises a duplicate by.
func ExampleMessageID() {
	id := outbox.NewMessageID()
	again, err := outbox.ParseMessageID(id.String())
	fmt.Println(len(id.String()), again == id, err)

	_, err = outbox.ParseMessageID(strings.Repeat("?", 36))
	fmt.Println(err)
	// Output:
	// 36 true <nil>
	// satchel: message id is not a UUID of 36 characters
}

// In JSON a message id is its text.
func ExampleMessageID_MarshalText() {
	id, err := outbox.ParseMessageID("01890a5d-ac96-774b-bcce-b302099a8057")
	doc, _ := json.Marshal(map[string]outbox.MessageID{"id": id})
	fmt.Println(string(doc), err)
	// Output: {"id":"01890a5d-ac96-774b-bcce-b302099a8057"} <nil>
}
