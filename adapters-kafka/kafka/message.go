package kafka

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// Message is a received record, taken apart.
type Message struct {
	// ID is the message id, the same on every copy of the message; "" when the record
	// has none, which means that something else than satchel sent it.
	ID string
	// EventType and ContentType are "" when the record does not say.
	EventType   string
	ContentType string
	// Headers are the application's own; of several with one name the last.
	Headers map[string]string
	// Context is the propagation context by namespace, for propagation.Set.Restore.
	Context map[string]json.RawMessage
	// Key is the aggregate id, nil when the record has no key.
	Key []byte
	// Value is the payload, nil for a tombstone.
	Value []byte

	Topic     string
	Partition int32
	Offset    int64
	Timestamp time.Time
}

// MessageOf takes a record apart, with the default header names.
func MessageOf(record *sarama.ConsumerMessage) Message { return HeaderNames{}.MessageOf(record) }

// MessageOf takes a record apart. It never fails: what is not there stays empty.
//
// A context header holds the text of a JSON string, or another JSON document; which
// of them is not said. Objects and arrays are taken as documents and all else as
// text, so a namespace whose value is a bare number comes back as a string.
func (n HeaderNames) MessageOf(record *sarama.ConsumerMessage) Message {
	n = n.withDefaults()
	m := Message{
		Key: record.Key, Value: record.Value,
		Topic: record.Topic, Partition: record.Partition, Offset: record.Offset,
		Timestamp: record.Timestamp,
	}
	own := map[string]*string{n.MessageID: &m.ID, n.EventType: &m.EventType, n.ContentType: &m.ContentType}
	for _, h := range record.Headers {
		if h == nil {
			continue
		}
		name, value := string(h.Key), string(h.Value)
		if field, ok := own[name]; ok {
			*field = value
			continue
		}
		if namespace, ok := strings.CutPrefix(name, n.Prefix); ok {
			if m.Context == nil {
				m.Context = make(map[string]json.RawMessage)
			}
			m.Context[namespace] = contextDocument(value)
			continue
		}
		if m.Headers == nil {
			m.Headers = make(map[string]string)
		}
		m.Headers[name] = value
	}
	return m
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
