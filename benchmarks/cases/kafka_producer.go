package cases

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/benchmarks/internal/lab"
)

// kafkaTopic is a topic of its own on the cluster that is measured.
type kafkaTopic struct {
	name  string
	admin sarama.ClusterAdmin
}

// newTopic makes a topic with a random name. The caller drops it.
func newTopic(brokers []string) (*kafkaTopic, error) {
	const partitions = 6
	admin, err := sarama.NewClusterAdmin(brokers, sarama.NewConfig())
	if err != nil {
		return nil, err
	}
	t := &kafkaTopic{name: "bench_" + strings.ToLower(rand.Text()[:12]), admin: admin}
	err = admin.CreateTopic(t.name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false)
	if err != nil {
		_ = admin.Close()
		return nil, err
	}
	return t, nil
}

func (t *kafkaTopic) drop() error {
	defer func() { _ = t.admin.Close() }()
	return t.admin.DeleteTopic(t.name)
}

// producer sends records like those of the entries, without an outbox.
type producer struct {
	topic string
	async sarama.AsyncProducer
}

func newProducer(brokers []string, topic string) (*producer, error) {
	async, err := sarama.NewAsyncProducer(brokers, kafka.DefaultSaramaConfig())
	if err != nil {
		return nil, err
	}
	return &producer{topic: topic, async: async}, nil
}

func (p *producer) close() error { return p.async.Close() }

// send sends n records, as fast as the cluster takes them, and returns records per
// second and how many microseconds this process computed for each.
func (p *producer) send(ctx context.Context, n int) (rate, each float64, err error) {
	var sending sync.WaitGroup
	defer sending.Wait()
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	began, computed := time.Now(), lab.ProcessorTime()
	sending.Go(func() {
		for i := range n {
			select {
			case p.async.Input() <- p.record(i):
			case <-ctx.Done():
				return
			}
		}
	})
	for range n {
		select {
		case <-p.async.Successes():
		case failure := <-p.async.Errors():
			return 0, 0, failure
		case <-ctx.Done():
			return 0, 0, context.Cause(ctx)
		}
	}
	took, computed := time.Since(began), lab.ProcessorTime()-computed
	return float64(n) / took.Seconds(), 1e6 * computed.Seconds() / float64(n), nil
}

func (p *producer) record(i int) *sarama.ProducerMessage {
	header := func(name, value string) sarama.RecordHeader {
		return sarama.RecordHeader{Key: []byte(name), Value: []byte(value)}
	}
	return &sarama.ProducerMessage{
		Topic: p.topic,
		Key:   sarama.StringEncoder(fmt.Sprint("a", i)),
		Value: sarama.ByteEncoder(payload),
		Headers: []sarama.RecordHeader{
			header(kafka.DefaultMessageIDHeader, "0190a5b4-0000-7000-8000-000000000000"),
			header(kafka.DefaultEventTypeHeader, "e"),
			header(kafka.DefaultContentTypeHeader, "application/json"),
		},
	}
}
