package service_test

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// order is the payload of most tests.
type order struct {
	ID    string `json:"id"`
	Total int64  `json:"total"`
}

// envelope returns an entry for target with a JSON payload.
func envelope(target, payload string) delivery.Envelope {
	return delivery.Envelope{
		ID: 1, MessageID: outbox.NewMessageID(), DestinationType: destination.Service,
		Destination: target, EventType: target, Payload: []byte(payload),
		ContentType: outbox.JSONContentType, CreatedAt: time.Now(), Attempt: 1, MaxAttempts: 3,
	}
}

// handlerOf builds a handler or ends the test.
func handlerOf(t testing.TB, reg *service.Registry, cfg service.Config) *service.Handler {
	t.Helper()
	h, err := service.NewHandler(reg, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ignore is a handler function that accepts every payload.
func ignore[P any](context.Context, P) error { return nil }

// call is a transaction that remembers what was inserted in it.
type call struct{ statements [][]outbox.Record }

// writer stores entries in a *call.
type writer struct{}

func (writer) Insert(_ context.Context, tx *call, records []outbox.Record) ([]outbox.ID, error) {
	tx.statements = append(tx.statements, records)
	ids := make([]outbox.ID, len(records))
	for i := range ids {
		ids[i] = outbox.ID(100 + i)
	}
	return ids, nil
}

func newPublisher() *outbox.Publisher[*call] { return outbox.NewPublisher(writer{}, outbox.Config{}) }

// delivered turns a stored record into the envelope that a relay would deliver.
func delivered(t *testing.T, r outbox.Record) delivery.Envelope {
	t.Helper()
	e, _, err := delivery.EnvelopeOf(&r)
	must(t, err)
	return e
}
