package deliverytest

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

// Harness connects the suite to a handler.
type Harness struct {
	// New returns a handler whose destination works. It is called once per test, from
	// parallel tests; it cleans up with t.Cleanup. Required.
	New func(t *testing.T) delivery.Handler
	// Known is a destination that the handler delivers to. Required.
	Known string
	// Valid changes an envelope for Known until the destination accepts it, for example
	// by adding control data. Nil means that any JSON object will do.
	Valid func(e *delivery.Envelope)

	// Undecodable changes a valid envelope so that its payload cannot be decoded. Nil
	// means that the handler passes payloads on as they are.
	Undecodable func(e *delivery.Envelope)
	// UndecodableVerdict is what becomes of such an envelope, usually
	// delivery.VerdictPermanent. Required with Undecodable, and not read without it.
	UndecodableVerdict delivery.Verdict

	// Failing returns a handler whose destination fails with err, an error that the
	// handler cannot know. Nil skips the test, visibly.
	Failing func(t *testing.T, err error) delivery.Handler
}

// marker is in payloads and header values, and must not be in any error text.
const marker = "do-not-quote-me"

// envelope returns a valid envelope of its own message and aggregate.
func (h Harness) envelope(handler delivery.Handler) delivery.Envelope {
	id := outbox.NewMessageID()
	e := delivery.Envelope{
		ID: 1, MessageID: id,
		DestinationType: handler.Type(), Destination: h.Known,
		EventType: "order.confirmed", AggregateType: "Order", AggregateID: "order-" + id.String(),
		Payload: []byte(`{"note":"` + marker + `"}`), ContentType: outbox.JSONContentType,
		Headers:   map[string]string{"tenant": marker},
		Metadata:  outbox.Metadata{Context: map[string]json.RawMessage{"correlation": json.RawMessage(`"c-1"`)}},
		CreatedAt: time.Now(), Attempt: 1, MaxAttempts: 20,
	}
	if h.Valid != nil {
		h.Valid(&e)
	}
	return e
}

// clone returns a copy of e that shares no memory with it.
func clone(e delivery.Envelope) delivery.Envelope {
	e.Payload = bytes.Clone(e.Payload)
	e.Headers = maps.Clone(e.Headers)
	e.Metadata.Context = cloneDocs(e.Metadata.Context)
	e.Metadata.Delivery = cloneDocs(e.Metadata.Delivery)
	return e
}

func cloneDocs(docs map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(docs)
	for key, doc := range out {
		out[key] = bytes.Clone(doc)
	}
	return out
}

// scribble overwrites everything that the relay may use again after a delivery.
func scribble(e *delivery.Envelope) {
	for i := range e.Payload {
		e.Payload[i] = 'X'
	}
	for key := range e.Headers {
		e.Headers[key] = "X"
	}
	for _, docs := range []map[string]json.RawMessage{e.Metadata.Context, e.Metadata.Delivery} {
		for _, doc := range docs {
			for i := range doc {
				doc[i] = ' '
			}
		}
	}
}
