package kafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestMain(m *testing.M) { kafkatest.VerifyNoLeak(m) }

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// quick is the recommended configuration with short pauses.
func quick() *sarama.Config { return kafkatest.Quick(kafka.DefaultSaramaConfig()) }

// open returns a handler over brokers that is closed when the test ends.
func open(t testing.TB, brokers []string, change func(*kafka.Config)) *kafka.Handler {
	t.Helper()
	cfg := kafka.Config{Connection: kafka.Connection{Brokers: brokers}, Sarama: quick()}
	if change != nil {
		change(&cfg)
	}
	h, err := kafka.NewHandler(cfg)
	if err != nil {
		t.Fatalf("new handler: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = h.Close(ctx) // tests that care close it themselves
	})
	return h
}

// faulty starts an in-process cluster with one topic and a handler over it.
func faulty(t *testing.T, partitions int32, options ...kfake.Opt) (*kfake.Cluster, *kafka.Handler, string) {
	t.Helper()
	c := kafkatest.Fake(t, options...)
	topic := kafkatest.Topic(t, c.ListenAddrs(), partitions)
	return c, open(t, c.ListenAddrs(), nil), topic
}

// entry returns an envelope for a topic.
func entry(topic, aggregate, payload string) delivery.Envelope {
	return delivery.Envelope{
		ID: 1, MessageID: outbox.NewMessageID(),
		DestinationType: destination.Kafka, Destination: topic,
		EventType: "order.confirmed", AggregateType: "Order", AggregateID: aggregate,
		Payload: []byte(payload), ContentType: outbox.JSONContentType,
		Attempt: 1, MaxAttempts: 20,
	}
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func deliver(t testing.TB, h *kafka.Handler, e delivery.Envelope) {
	t.Helper()
	if err := h.Deliver(within(t), e); err != nil {
		t.Fatalf("deliver: %v", err)
	}
}

func wantVerdict(t testing.TB, err error, want delivery.Verdict) {
	t.Helper()
	if got := delivery.VerdictOf(err); got != want {
		t.Fatalf("verdict %v, want %v, of error: %v", got, want, err)
	}
}

// values are the records' values as text, in order.
func values(records []*sarama.ConsumerMessage) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = string(r.Value)
	}
	return out
}
