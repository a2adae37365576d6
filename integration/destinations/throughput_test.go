package destinations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

const (
	drainEntries    = 20_000
	drainAggregates = 1_000
)

// text makes a payload of usual size.
var text = strings.Repeat("lorem ipsum ", 20)

// BenchmarkDrainToKafka empties an outbox of 20,000 entries into Kafka, and compares that with its two limits on the same
// machine: a relay whose handler does nothing, and a producer with the same settings and no outbox. ratio is the share
// of the lower limit that is reached. Each figure is the median of the iterations, which take turns, so that a machine
// that is busy for a while slows all three: run it as in -run none -bench Drain -benchtime 9x.
func BenchmarkDrainToKafka(b *testing.B) {
	brokers := kafkas.shared(b).Brokers
	handler := kafkaHandler(b, brokers)
	if err := handler.Connect(lab.Context(b)); err != nil {
		b.Fatal(err)
	}
	var nothing, bare, through, ratios []float64 // entries per second
	rate := func(d time.Duration) float64 { return drainEntries / d.Seconds() }
	for range b.N {
		n, p, k := rate(drain(b, "nowhere", idle{})), rate(produce(b, brokers)), rate(drain(b, newTopic(b, brokers, 6), handler))
		nothing, bare, through = append(nothing, n), append(bare, p), append(through, k)
		ratios = append(ratios, k/min(n, p))
	}
	for unit, figures := range map[string][]float64{"noop/s": nothing, "producer/s": bare, "kafka/s": through, "ratio": ratios} {
		slices.Sort(figures)
		b.ReportMetric(figures[len(figures)/2], unit)
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

// idle is a handler that does nothing, quickly.
type idle struct{}

func (idle) Type() destination.Type                           { return destination.Kafka }
func (idle) Scope() claim.Scope                               { return claim.All() }
func (idle) Deliver(context.Context, delivery.Envelope) error { return nil }

// DeliverBatch implements delivery.BatchHandler.
func (idle) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	return make([]error, len(batch))
}

// drain fills an outbox and returns how long it takes to empty it.
func drain(b *testing.B, topic string, h delivery.Handler) time.Duration {
	b.Helper()
	ctx := lab.Context(b)
	pool := lab.New(b).Pool(b, lab.Size(4))
	pub := newPublisher(b, outbox.Config{})
	entries := make([]outbox.Entry, 0, drainAggregates)
	for n := range drainEntries {
		e := kafkaEntry(topic, fmt.Sprint("order-", n%drainAggregates), n)
		e.Payload = map[string]any{"n": n, "text": text}
		if entries = append(entries, e); len(entries) == cap(entries) {
			publish(ctx, b, pool, pub, entries...)
			entries = entries[:0]
		}
	}
	r, err := relay.New(lab.Store(b, pool), []delivery.Handler{h}, relay.Config{Strategy: relay.Polling, BatchSize: 500})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `VACUUM ANALYZE outbox`); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if n, err := r.Drain(ctx); err != nil || n != drainEntries {
		b.Fatalf("%d attempts, error %v", n, err)
	}
	return time.Since(start)
}

// produce sends records like those of the entries, without an outbox.
func produce(b *testing.B, brokers []string) time.Duration {
	b.Helper()
	topic := newTopic(b, brokers, 6)
	producer, err := sarama.NewAsyncProducer(brokers, kafka.DefaultSaramaConfig())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = producer.Close() }()
	header := func(name string) sarama.RecordHeader {
		return sarama.RecordHeader{Key: []byte(name), Value: []byte("0190a5b4-0000-7000-8000-000000000000")}
	}
	start := time.Now()
	go func() {
		for n := range drainEntries {
			producer.Input() <- &sarama.ProducerMessage{
				Topic: topic, Key: sarama.StringEncoder(fmt.Sprint("order-", n%drainAggregates)),
				Value:   sarama.StringEncoder(fmt.Sprintf(`{"n": %d, "text": %q}`, n, text)),
				Headers: []sarama.RecordHeader{header("carrier_id"), header("event_type"), header("content_type")},
			}
		}
	}()
	for range drainEntries {
		select {
		case <-producer.Successes():
		case err := <-producer.Errors():
			b.Fatal(err)
		}
	}
	return time.Since(start)
}
