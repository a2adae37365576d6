package deliverytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

// odd are changes to a valid envelope that a row of an older version, of another
// program or of a careless application could cause.
var odd = map[string]func(e *delivery.Envelope){
	"nil payload":        func(e *delivery.Envelope) { e.Payload = nil },
	"empty payload":      func(e *delivery.Envelope) { e.Payload = []byte{} },
	"null":               func(e *delivery.Envelope) { e.Payload = []byte("null") },
	"number":             func(e *delivery.Envelope) { e.Payload = []byte("1e400") },
	"text":               func(e *delivery.Envelope) { e.Payload = []byte(`"` + marker + `"`) },
	"list":               func(e *delivery.Envelope) { e.Payload = []byte(`["` + marker + `"]`) },
	"broken JSON":        func(e *delivery.Envelope) { e.Payload = []byte(`{"note":"` + marker) },
	"deep JSON":          func(e *delivery.Envelope) { e.Payload = []byte(strings.Repeat("[", 900) + strings.Repeat("]", 900)) },
	"huge payload":       func(e *delivery.Envelope) { e.Payload = []byte(`{"note":"` + strings.Repeat("x", 4<<20) + `"}`) },
	"raw payload":        func(e *delivery.Envelope) { e.Payload, e.ContentType = []byte{0, 0xff, 0xfe}, "application/x-protobuf" },
	"empty raw payload":  func(e *delivery.Envelope) { e.Payload, e.ContentType = nil, "application/x-protobuf" },
	"no content type":    func(e *delivery.Envelope) { e.ContentType = "" },
	"no aggregate":       func(e *delivery.Envelope) { e.AggregateID, e.AggregateType = "", "" },
	"long aggregate":     func(e *delivery.Envelope) { e.AggregateID = strings.Repeat("\U0001F600", 255) },
	"no event type":      func(e *delivery.Envelope) { e.EventType = "" },
	"odd event type":     func(e *delivery.Envelope) { e.EventType = "\x00\xff\r\n" },
	"no message id":      func(e *delivery.Envelope) { e.MessageID = outbox.MessageID{} },
	"no headers":         func(e *delivery.Envelope) { e.Headers = nil },
	"odd headers":        func(e *delivery.Envelope) { e.Headers = oddHeaders() },
	"no metadata":        func(e *delivery.Envelope) { e.Metadata = outbox.Metadata{} },
	"malformed metadata": func(e *delivery.Envelope) { e.Metadata = malformedMetadata(e.Metadata) },
	"other fingerprint":  func(e *delivery.Envelope) { fingerprint(e, `{"not":"a text"}`) },
	"zero numbers":       func(e *delivery.Envelope) { e.ID, e.Attempt, e.MaxAttempts = 0, 0, 0 },
	"negative numbers":   func(e *delivery.Envelope) { e.ID, e.Attempt, e.MaxAttempts = -1, -1, -1 },
	"no times":           func(e *delivery.Envelope) { e.CreatedAt, e.ScheduledAt = time.Time{}, time.Time{} },
	"far times": func(e *delivery.Envelope) {
		e.CreatedAt, e.ScheduledAt = time.Unix(1<<40, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	},
	"other type": func(e *delivery.Envelope) { e.DestinationType = "OTHER" },
}

func oddHeaders() map[string]string {
	headers := map[string]string{
		"": "empty key", "empty value": "", "control\r\nkey": "a\r\nb", "Ünï 😀": "漢字", "invalid": "\xff\x00",
		"long": strings.Repeat("v", outbox.MaxHeaderValue), strings.Repeat("k", 255): marker,
		"content-type": "text/x", "traceparent": "00-x", "satchel-forged": marker,
	}
	for i := range outbox.MaxHeaders {
		headers[fmt.Sprintf("h%d", i)] = "v"
	}
	return headers
}

// malformedMetadata replaces every document, and adds unknown ones.
func malformedMetadata(m outbox.Metadata) outbox.Metadata {
	bad := func(docs map[string]json.RawMessage) map[string]json.RawMessage {
		out := map[string]json.RawMessage{"unknown": json.RawMessage(`[1]`), "": json.RawMessage(`{`), "nil": nil}
		for key := range docs {
			out[key] = json.RawMessage(`{"x":`)
		}
		return out
	}
	return outbox.Metadata{Context: bad(m.Context), Delivery: bad(m.Delivery)}
}

func fingerprint(e *delivery.Envelope, doc string) {
	e.Metadata.Delivery = cloneDocs(e.Metadata.Delivery)
	if e.Metadata.Delivery == nil {
		e.Metadata.Delivery = map[string]json.RawMessage{}
	}
	e.Metadata.Delivery[outbox.FingerprintKey] = json.RawMessage(doc)
}

// oddEnvelopes: whatever the verdict is, there is one, and the handler still works.
func oddEnvelopes(b *bench) {
	for name, change := range odd {
		e := b.envelope(b.handler)
		change(&e)
		err := b.attempt(b.Context(), e)
		if tx, ok := b.handler.(delivery.TxHandler); ok {
			tx.InTx(e)
		}
		if again := b.attempt(b.Context(), b.envelope(b.handler)); again != nil {
			b.Errorf("after %s (%v) a valid envelope is refused: %v", name, err, again)
		}
	}
}

// notChanged also covers the envelopes that are not delivered.
func notChanged(b *bench) {
	changes := map[string]func(*delivery.Envelope){"valid": func(*delivery.Envelope) {}}
	for name, change := range odd {
		changes[name] = change
	}
	changes["unknown destination"] = func(e *delivery.Envelope) { e.Destination = unknown }
	for name, change := range changes {
		e := b.envelope(b.handler)
		change(&e)
		before := clone(e)
		_ = b.attempt(b.Context(), e)
		if !reflect.DeepEqual(e, before) || !bytes.Equal(e.Payload, before.Payload) {
			b.Errorf("%s: the handler changed the envelope", name)
		}
	}
}
