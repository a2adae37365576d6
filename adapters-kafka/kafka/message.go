package kafka

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// Message is a received record, taken apart.
type Message struct {
	// ID is the message id, the same on every copy of the message; "" when the record
	// has none, which means that something else than satchel sent it. It is a text, as
	// in an inbox: another sender may use ids that are not UUIDs.
	ID string
	// EventType says what happened; "" when the record does not say.
	EventType string
	// ContentType describes Value; "" when the record does not say.
	ContentType string
	// Headers are the application's own; of several with one name the last.
	Headers map[string]string
	// Context is the propagation context by namespace, for propagation.Set.Restore.
	Context map[string]json.RawMessage
	// Key is the aggregate id, nil when the record has no key.
	Key []byte
	// Value is the payload, nil for a tombstone.
	Value []byte

	Topic     string    // where the record is, with Partition and Offset
	Partition int32     // in the topic
	Offset    int64     // in the partition
	Timestamp time.Time // of the sending, unless the topic is set to the time of the append
}

// MessageOf takes a record apart, with the default header names.
func MessageOf(record *sarama.ConsumerMessage) Message { return HeaderNames{}.MessageOf(record) }

// MessageOf takes a record apart. It never fails: what is not there stays empty.
//
// A context header holds the text of a JSON string, or another JSON document; which
// of them is not said. Objects and arrays are taken as documents and all else as
// text, so a namespace whose value is a bare number comes back as a string. The headers
// traceparent, tracestate and baggage are context under their own names too, whoever
// sent them; a header with the prefix wins over one without.
func (n HeaderNames) MessageOf(record *sarama.ConsumerMessage) Message {
	n = n.withDefaults()
	m := Message{
		Key: record.Key, Value: record.Value,
		Topic: record.Topic, Partition: record.Partition, Offset: record.Offset,
		Timestamp: record.Timestamp,
	}
	own := map[string]*string{n.MessageID: &m.ID, n.EventType: &m.EventType, n.ContentType: &m.ContentType}
	var plain map[string]string
	for _, h := range record.Headers {
		if h == nil {
			continue
		}
		name, value := string(h.Key), string(h.Value)
		if field, ok := own[name]; ok {
			*field = value
			continue
		}
		if namespace, ok := strings.CutPrefix(name, n.ReservedPrefix); ok {
			set(&m.Context, namespace, contextDocument(value))
			continue
		}
		if slices.Contains(w3c, name) {
			set(&plain, name, value)
			continue
		}
		set(&m.Headers, name, value)
	}
	for namespace, value := range plain {
		if _, prefixed := m.Context[namespace]; !prefixed {
			set(&m.Context, namespace, contextDocument(value))
		}
	}
	return m
}

// set makes the map when the first value comes.
func set[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[name] = value
}

// contextDocument undoes contextText.
func contextDocument(text string) json.RawMessage {
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	doc, err := json.Marshal(text)
	if err != nil { // cannot happen: every string marshals
		return nil
	}
	return doc
}
