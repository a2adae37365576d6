package kafka

import (
	"bytes"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// maxTopicLength is the longest topic name that a cluster accepts.
const maxTopicLength = 249

// record builds the record of an entry, or returns a *fault.Invalid when the entry
// can never be one. Nothing in it shares memory with the entry, because the client
// can still hold the record when the attempt is over.
func (h *Handler) record(e *delivery.Envelope) (*sarama.ProducerMessage, error) {
	if !validTopic(e.Destination) {
		return nil, fault.NewInvalid("kafka topic", "is not a legal topic name")
	}
	m := &sarama.ProducerMessage{Topic: e.Destination, Headers: h.names.headers(e)}
	if e.AggregateID != "" { // no key at all, rather than an empty one, which all go to one partition
		m.Key = sarama.StringEncoder(e.AggregateID)
	}
	if h.tombstone(e) {
		if m.Key == nil {
			return nil, fault.NewInvalid("aggregate id", "is empty: a tombstone needs a key to delete")
		}
	} else {
		m.Value = sarama.ByteEncoder(append([]byte{}, e.Payload...))
	}
	// The client's own refusal has a type that other problems share, hence the check here.
	const headersSupported = 2
	if size := m.ByteSize(headersSupported); size > h.maxBytes {
		return nil, fault.NewInvalid("kafka record", fmt.Sprintf("is larger than Producer.MaxMessageBytes: %d > %d", size, h.maxBytes))
	}
	return m, nil
}

func (h *Handler) tombstone(e *delivery.Envelope) bool {
	return h.isTombstone != nil && e.ContentType == outbox.JSONContentType &&
		string(bytes.TrimSpace(e.Payload)) == "null" && h.isTombstone(e.Destination)
}

// validTopic applies the cluster's rule: 1 to 249 of a-z, A-Z, 0-9, '.', '_', '-',
// and neither "." nor "..".
func validTopic(topic string) bool {
	if topic == "" || len(topic) > maxTopicLength || topic == "." || topic == ".." {
		return false
	}
	for i := range len(topic) {
		switch c := topic[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
