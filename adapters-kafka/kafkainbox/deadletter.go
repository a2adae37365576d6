package kafkainbox

import (
	"strconv"
	"strings"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// deadLetterInfix follows the prefix of reserved headers in the names of the headers
// that a dead letter has in addition.
const deadLetterInfix = "dead-letter-"

// maxErrorText bounds the error's text in a dead letter, in characters.
const maxErrorText = 500

// deadLetter is the record as it came, with headers that say why it is here and where
// it came from. Those of an earlier stay in a dead-letter topic are replaced.
func (r *run[Tx]) deadLetter(record *sarama.ConsumerMessage, why *RecordError) *sarama.ProducerMessage {
	prefix := r.cfg.Names.ReservedPrefix
	if prefix == "" {
		prefix = outbox.DefaultReservedPrefix
	}
	prefix += deadLetterInfix
	m := &sarama.ProducerMessage{Topic: r.cfg.DeadLetterTopic(record.Topic)}
	if record.Key != nil {
		m.Key = sarama.ByteEncoder(record.Key)
	}
	if record.Value != nil {
		m.Value = sarama.ByteEncoder(record.Value)
	}
	for _, h := range record.Headers {
		if h != nil && !strings.HasPrefix(string(h.Key), prefix) {
			m.Headers = append(m.Headers, *h)
		}
	}
	for _, h := range []struct{ name, value string }{
		{"reason", string(why.Reason)},
		{"error", fault.Clean(fault.Text(why.Err), maxErrorText)},
		{"attempts", strconv.Itoa(why.Attempts)},
		{"group", r.cfg.Group},
		{"topic", record.Topic},
		{"partition", strconv.Itoa(int(record.Partition))},
		{"offset", strconv.FormatInt(record.Offset, 10)},
	} {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(prefix + h.name), Value: []byte(h.value)})
	}
	return m
}
