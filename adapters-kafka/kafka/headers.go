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
	DefaultMessageIDHeader   = "carrier_id"
	DefaultEventTypeHeader   = "event_type"
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
	// Prefix starts the names of the headers with propagation context, one for each
	// namespace; empty means "satchel-". It must be the outbox.Config.ReservedPrefix of
	// the publishers, which refuse application headers that start with it.
	Prefix string
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
		{&n.Prefix, outbox.DefaultReservedPrefix},
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
		if strings.HasPrefix(name, n.Prefix) {
			problems = append(problems, fault.NewInvalid("kafka header names", "start with the prefix of context headers"))
			break
		}
	}
	return problems
}

// plainTrace are the namespaces that are sent under their own name too, because
// tracing libraries look for them there.
var plainTrace = []string{propagation.TraceParent, propagation.TraceState}

// headers returns the headers of an entry in their fixed order. Of two with one
// name, ours comes last: Kafka clients take the last one as the one that counts.
func (n HeaderNames) headers(e *delivery.Envelope) []sarama.RecordHeader {
	out := make([]sarama.RecordHeader, 0, len(e.Headers)+3+len(e.Metadata.Context)+len(plainTrace))
	add := func(name, value string) {
		out = append(out, sarama.RecordHeader{Key: []byte(name), Value: []byte(value)})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		add(name, e.Headers[name])
	}
	add(n.MessageID, e.MessageID.String())
	add(n.EventType, e.EventType)
	add(n.ContentType, e.ContentType)
	for _, namespace := range slices.Sorted(maps.Keys(e.Metadata.Context)) {
		add(n.Prefix+namespace, contextText(e.Metadata.Context[namespace]))
	}
	for _, namespace := range plainTrace {
		doc, captured := e.Metadata.Context[namespace]
		if _, own := e.Headers[namespace]; captured && !own {
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
