package kafkainbox_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestMain(m *testing.M) { kafkatest.VerifyNoLeak(m) }

// patience bounds every wait of these tests.
const patience = 30 * time.Second

type config = kafkainbox.Config[*memstore.Tx]

// bench is a cluster with one topic, and a database whose committed effects it keeps.
type bench struct {
	*testing.T
	cluster *kfake.Cluster
	brokers []string
	topic   string
	store   *memstore.Store

	pending sync.Map // of each open transaction

	mu      sync.Mutex
	effects []string // values, in the order of their commits
	changed chan struct{}
}

func newBench(t *testing.T, partitions int32) *bench {
	t.Helper()
	c := kafkatest.Fake(t)
	return &bench{
		T: t, cluster: c, brokers: c.ListenAddrs(), topic: kafkatest.Topic(t, c.ListenAddrs(), partitions),
		store: memstore.New(memstore.Config{}), changed: make(chan struct{}, 1),
	}
}

// config is one whose work has the record's value as its effect.
func (b *bench) config() config {
	settings := kafkatest.Quick(kafkainbox.DefaultSaramaConfig())
	settings.Consumer.Offsets.AutoCommit.Interval = 20 * time.Millisecond
	settings.Consumer.Group.Heartbeat.Interval = 50 * time.Millisecond
	settings.Consumer.Group.Rebalance.Retry.Backoff = 20 * time.Millisecond
	settings.Consumer.Retry.Backoff = 20 * time.Millisecond
	settings.Consumer.MaxWaitTime = 100 * time.Millisecond
	return config{
		Connection: kafka.Connection{Brokers: b.brokers}, Sarama: settings,
		Group: "billing", Topics: []string{b.topic},
		Processor: memstore.NewProcessor(b.store),
		InTx:      b.inTx,
		Work: func(_ context.Context, tx *memstore.Tx, m kafka.Message) error {
			b.effect(tx, string(m.Value))
			return nil
		},
		MinBackoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond, CloseTimeout: patience,
	}
}

// effect is kept when tx commits.
func (b *bench) effect(tx *memstore.Tx, value string) { b.pending.Store(tx, value) }

func (b *bench) inTx(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error {
	tx := b.store.Begin()
	defer tx.Rollback()
	defer b.pending.Delete(tx)
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if value, ok := b.pending.Load(tx); ok {
		b.mu.Lock()
		b.effects = append(b.effects, value.(string))
		b.mu.Unlock()
		select {
		case b.changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// committed waits for n effects and returns them.
func (b *bench) committed(n int) []string {
	b.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		got := append([]string(nil), b.effects...)
		b.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-b.changed:
		case <-deadline:
			b.Fatalf("%d of %d effects: %q", len(got), n, got)
		}
	}
}

// start runs a consumer; stop ends it and returns Run's result.
func (b *bench) start(cfg config) (stop func() error) {
	b.Helper()
	c, err := kafkainbox.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- c.Run(ctx) }()
	var once sync.Once
	stop = func() (err error) {
		once.Do(func() {
			cancel()
			select {
			case err = <-result:
			case <-time.After(patience):
				b.Error("the consumer does not end")
			}
		})
		return err
	}
	b.Cleanup(func() { _ = stop() })
	return stop
}

// run runs a consumer that is expected to end by itself.
func (b *bench) run(cfg config) error {
	b.Helper()
	c, err := kafkainbox.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Run(ctx)
}

// record is what a sender writes.
func (b *bench) record(id, key, value string) *sarama.ProducerMessage {
	m := &sarama.ProducerMessage{Topic: b.topic, Key: sarama.StringEncoder(key), Value: sarama.StringEncoder(value)}
	if id != "" {
		m.Headers = []sarama.RecordHeader{{Key: []byte(kafka.DefaultMessageIDHeader), Value: []byte(id)}}
	}
	return m
}

func newID() string { return outbox.NewMessageID().String() }

func (b *bench) send(records ...*sarama.ProducerMessage) {
	b.Helper()
	p, err := sarama.NewSyncProducer(b.brokers, kafkatest.Quick(kafka.DefaultSaramaConfig()))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := p.SendMessages(records); err != nil {
		b.Fatal(err)
	}
}

// sendValues sends records with the values "0" to n-1, of one key.
func (b *bench) sendValues(n int) {
	b.Helper()
	records := make([]*sarama.ProducerMessage, n)
	for i := range records {
		records[i] = b.record(newID(), "order-1", fmt.Sprint(i))
	}
	b.send(records...)
}

// wantOffset waits until the group has committed an offset of partition 0.
func (b *bench) wantOffset(want int64) {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := b.cluster.WaitGroupInfo(ctx, "billing", func(g *kfake.GroupInfo) bool {
		return g != nil && g.Commits[b.topic][0].Offset == want
	})
	if err != nil {
		b.Errorf("offset %d was not committed: %v", want, err)
	}
}
