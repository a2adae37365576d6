package kafka

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// The default names of the headers that the handler adds.
const (
	// DefaultMessageIDHeader holds the message id.
	DefaultMessageIDHeader = "carrier_id"
	// DefaultEventTypeHeader holds the event type.
	DefaultEventTypeHeader = "event_type"
	// DefaultContentTypeHeader holds the content type.
	DefaultContentTypeHeader = "content_type"
)

// HeaderNames are the names of the headers that carry what is not payload. Sender and
// receiver must use the same.
type HeaderNames struct {
	// MessageID is the header with the message id; empty means "carrier_id".
	MessageID string
	// EventType is the header with the event type; empty means "event_type".
	EventType string
	// ContentType is the header with the content type; empty means "content_type".
	ContentType string
	// ReservedPrefix starts the names of the headers with propagation context, one for
	// each namespace; empty means "satchel-". It must be the outbox.Config.ReservedPrefix
	// of the publishers, which refuse application headers that start with it.
	ReservedPrefix string
}

// withDefaults returns n with its empty fields filled.
func (n HeaderNames) withDefaults() HeaderNames {
	for _, f := range []struct {
		field    *string
		standard string
	}{
		{&n.MessageID, DefaultMessageIDHeader},
		{&n.EventType, DefaultEventTypeHeader},
		{&n.ContentType, DefaultContentTypeHeader},
		{&n.ReservedPrefix, outbox.DefaultReservedPrefix},
	} {
		if *f.field == "" {
			*f.field = f.standard
		}
	}
	return n
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (n HeaderNames) Validate() error { return errors.Join(n.problems()...) }

func (n HeaderNames) problems() []error {
	n = n.withDefaults()
	var problems []error
	if n.MessageID == n.EventType || n.MessageID == n.ContentType || n.EventType == n.ContentType {
		problems = append(problems, fault.NewInvalid("kafka header names", "are not distinct"))
	}
	for _, name := range []string{n.MessageID, n.EventType, n.ContentType} {
		if strings.HasPrefix(name, n.ReservedPrefix) {
			problems = append(problems, fault.NewInvalid("kafka header names", "start with the prefix of context headers"))
			break
		}
	}
	if slices.ContainsFunc(w3c, func(name string) bool { return name == n.MessageID || name == n.EventType || name == n.ContentType }) {
		problems = append(problems, fault.NewInvalid("kafka header names", "have one of traceparent, tracestate and baggage"))
	}
	return problems
}

// w3c are the namespaces to which the World Wide Web Consortium gave a header name.
// They are sent under that name too, because tracing libraries look there.
var w3c = []string{propagation.TraceParent, propagation.TraceState, propagation.Baggage}

// usualText is room for the names and values of an entry without headers of its own.
const usualText = 192

// headers returns the headers of an entry in their fixed order. Of two with one
// name, ours comes last: Kafka clients take the last one as the one that counts.
func (n HeaderNames) headers(e *delivery.Envelope) []sarama.RecordHeader {
	out := make([]sarama.RecordHeader, 0, len(e.Headers)+3+len(e.Metadata.Context)+len(w3c))
	text := make([]byte, 0, usualText) // one allocation for all names and values
	bytesOf := func(s string) []byte {
		text = append(text, s...)
		return text[len(text)-len(s) : len(text) : len(text)]
	}
	add := func(name, value string) {
		out = append(out, sarama.RecordHeader{Key: bytesOf(name), Value: bytesOf(value)})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if _, captured := e.Metadata.Context[name]; captured && slices.Contains(w3c, name) {
			continue // two values would leave it to each reader which one counts
		}
		add(name, e.Headers[name])
	}
	add(n.MessageID, e.MessageID.String())
	add(n.EventType, e.EventType)
	add(n.ContentType, e.ContentType)
	for _, namespace := range slices.Sorted(maps.Keys(e.Metadata.Context)) {
		add(n.ReservedPrefix+namespace, contextText(e.Metadata.Context[namespace]))
	}
	for _, namespace := range w3c {
		if doc, captured := e.Metadata.Context[namespace]; captured {
			add(namespace, contextText(doc))
		}
	}
	return out
}

// contextText is the text of a JSON string, or the document itself.
func contextText(doc json.RawMessage) string {
	var text string
	if len(doc) > 0 && doc[0] == '"' && json.Unmarshal(doc, &text) == nil {
		return text
	}
	return string(doc)
}
