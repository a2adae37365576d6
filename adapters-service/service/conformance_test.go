package service_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// note is the payload that the conformance suite sends.
type note struct {
	Note string `json:"note"`
}

// kept holds on to the last things a function was given and looks at it again at the next
// call: with -race that finds memory which is still the relay's.
type kept[P any] struct {
	mu       sync.Mutex
	payloads []P
	messages []service.Message
}

func (k *kept[P]) keep(ctx context.Context, payload P) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, _ := service.MessageFrom(ctx)
	k.payloads, k.messages = append(k.payloads, payload), append(k.messages, m)
	if len(k.messages) > 4 {
		k.payloads, k.messages = k.payloads[1:], k.messages[1:]
	}
	for i, m := range k.messages {
		if _, err := json.Marshal(k.payloads[i]); err != nil {
			return err
		}
		if m.Headers["tenant"] == "X" { // what the suite scribbles over the relay's map
			return errBusy
		}
	}
	return nil
}

func conformance[P any](t *testing.T, op service.Operation[P], known string, undecodable func(*delivery.Envelope)) {
	t.Helper()
	build := func(t *testing.T, fn func(context.Context, P) error) delivery.Handler {
		reg := service.NewRegistry()
		must(t, service.Handle(reg, op, fn, service.HandlerOptions{}))
		must(t, service.Handle(reg, service.MustOperation[order]("other"), ignore, service.HandlerOptions{}))
		return handlerOf(t, reg, service.Config{})
	}
	deliverytest.Run(t, deliverytest.Harness{
		New:                func(t *testing.T) delivery.Handler { return build(t, (&kept[P]{}).keep) },
		Known:              known,
		Undecodable:        undecodable,
		UndecodableVerdict: delivery.VerdictRetryable,
		Failing: func(t *testing.T, err error) delivery.Handler {
			return build(t, func(context.Context, P) error { return err })
		},
	})
}

func TestConformanceOfJSON(t *testing.T) {
	t.Parallel()
	op := service.MustOperation[note]("notes.take")
	conformance(t, op, "notes.take", func(e *delivery.Envelope) { e.Payload = []byte(`{"note":["do-not-quote-me"]}`) })
}

func TestConformanceOfAnAlias(t *testing.T) {
	t.Parallel()
	op := service.Alias(service.MustOperation[*note]("notes.take"), "notes.old")
	conformance(t, op, "notes.old", func(e *delivery.Envelope) {
		e.Payload, e.ContentType = []byte("do-not-quote-me"), "application/x-protobuf"
	})
}

func TestConformanceOfDocuments(t *testing.T) {
	t.Parallel()
	conformance(t, service.MustOperation[json.RawMessage]("documents.keep"), "documents.keep",
		func(e *delivery.Envelope) { e.Payload = []byte(`{"note":"do-not-quote-me`) })
}

func TestConformanceOfRaw(t *testing.T) {
	t.Parallel()
	conformance(t, service.MustOperation[outbox.Raw]("files.keep"), "files.keep", nil)
}
