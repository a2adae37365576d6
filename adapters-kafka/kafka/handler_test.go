package kafka_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// What is sent comes back, from whichever cluster there is.
func TestDeliverAndReceive(t *testing.T) {
	t.Parallel()
	brokers := kafkatest.Brokers(t)
	topic := kafkatest.Topic(t, brokers, 3)
	h := open(t, brokers, func(c *kafka.Config) { c.Tombstone = func(string) bool { return true } })

	keyed := entry(topic, "order-1", `{"a": 1}`)
	keyed.Headers = map[string]string{"zone": "eu"}
	keyless := entry(topic, "", `2`)
	raw := entry(topic, "order-2", "\x00\xff")
	raw.ContentType = "application/x-protobuf"
	empty := entry(topic, "order-3", "")
	empty.ContentType = "text/plain"
	tombstone := entry(topic, "order-4", `null`)
	sent := []delivery.Envelope{keyed, keyless, raw, empty, tombstone}
	for i, err := range h.DeliverBatch(within(t), sent) {
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
	}

	got := map[string]kafka.Message{}
	for _, record := range kafkatest.Records(t, brokers, topic) {
		m := kafka.MessageOf(record)
		got[m.ID] = m
	}
	if len(got) != len(sent) {
		t.Fatalf("%d messages, want %d", len(got), len(sent))
	}
	for _, e := range sent {
		m := got[e.MessageID.String()]
		wantValue := e.Payload
		if e.MessageID == tombstone.MessageID {
			wantValue = nil
		}
		if string(m.Value) != string(wantValue) || string(m.Key) != e.AggregateID || m.ContentType != e.ContentType {
			t.Errorf("message %+v of entry %+v", m, e)
		}
		if (m.Key == nil) != (e.AggregateID == "") || (m.Value == nil) != (wantValue == nil) {
			t.Errorf("key %v or value %v: nil and empty are mixed up", m.Key, m.Value)
		}
		if !maps.Equal(m.Headers, e.Headers) {
			t.Errorf("headers %v", m.Headers)
		}
	}
}

func TestTypeAndScope(t *testing.T) {
	t.Parallel()
	all := open(t, []string{"127.0.0.1:1"}, nil)
	topics := []string{"orders"}
	some := open(t, []string{"127.0.0.1:1"}, func(c *kafka.Config) { c.Topics = func() []string { return topics } })
	if all.Type() != destination.Kafka {
		t.Errorf("type %s", all.Type())
	}
	allows := func(h *kafka.Handler, topic string) bool {
		s, err := claim.Resolve(claim.Capabilities{h.Type(): h.Scope()})
		if err != nil {
			t.Fatal(err)
		}
		return s.Allows(destination.Kafka, topic)
	}
	if !allows(all, "anything") || !allows(some, "orders") || allows(some, "bills") {
		t.Error("the scope does not follow the configuration")
	}
	topics = []string{"bills"}
	if allows(some, "orders") || !allows(some, "bills") {
		t.Error("the scope is not live")
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t, kfake.ClusterID("cluster-eu-1"))
	h := open(t, c.ListenAddrs(), nil)
	for range 2 {
		if got := h.Fingerprint(within(t), "orders"); got != "cluster-eu-1" {
			t.Errorf("fingerprint %q", got)
		}
	}
	if err := h.Connect(within(t)); err != nil {
		t.Errorf("connect: %v", err)
	}
	c.Close()
	if got := h.Fingerprint(within(t), "orders"); got != "cluster-eu-1" {
		t.Errorf("fingerprint %q: it is not kept", got)
	}
}

// A cluster that is reached but fails to say which it is counts as not reached:
// an entry meant for another cluster must not pass because of that.
func TestFingerprintIsNeverGuessed(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t, kfake.ClusterID("cluster-eu-1"), kfake.SeedTopics(1, "__consumer_offsets")) // what is asked for
	questions := 0
	c.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		if questions++; questions == 2 { // the first is about the brokers
			return nil, errors.New("cut"), true
		}
		c.KeepControl()
		return nil, nil, false
	})
	h := open(t, c.ListenAddrs(), nil)
	wantVerdict(t, h.Connect(within(t)), delivery.VerdictUnavailable)
	if got := h.Fingerprint(within(t), "orders"); got != "cluster-eu-1" {
		t.Errorf("fingerprint %q", got)
	}
}

// A custom partitioner decides, whatever the key.
func TestPartitionerIsTheUsers(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t)
	topic := kafkatest.Topic(t, c.ListenAddrs(), 4)
	h := open(t, c.ListenAddrs(), func(cfg *kafka.Config) {
		cfg.Sarama.Producer.Partitioner = func(string) sarama.Partitioner { return always(3) }
	})
	for i := range 8 {
		deliver(t, h, entry(topic, fmt.Sprint("order-", i), `1`))
	}
	for _, record := range kafkatest.Records(t, c.ListenAddrs(), topic) {
		if record.Partition != 3 {
			t.Errorf("a record is in partition %d", record.Partition)
		}
	}
}

type always int32

func (p always) Partition(*sarama.ProducerMessage, int32) (int32, error) { return int32(p), nil }
func (always) RequiresConsistency() bool                                 { return true }

// A relay's work in small: each aggregate has one entry under way at a time, failed
// ones are tried again, and the cluster misbehaves all along. Without duplicates,
// which at-least-once delivery permits, each aggregate's order is the order sent.
func TestAggregateOrderUnderFaults(t *testing.T) {
	t.Parallel()
	const aggregates, each = 8, 25
	c, h, topic := faulty(t, 3)
	answers := []*kerr.Error{kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownServerError}
	random := rand.New(rand.NewPCG(1, 2)) // the schedule of goroutines varies all the same
	stop, chaos := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(chaos)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond): // lets some entries through
			}
			c.Fault(produceFault(topic, answers[random.IntN(len(answers))], 1+random.IntN(3)))
			_ = c.MoveTopicPartition(topic, random.Int32N(3), random.Int32N(3))
		}
	}()

	var wg sync.WaitGroup
	for a := range aggregates {
		wg.Go(func() {
			for i := range each {
				e := entry(topic, fmt.Sprint("order-", a), fmt.Sprint(i))
				e.MessageID = outbox.NewMessageID()
				for h.Deliver(within(t), e) != nil && within(t).Err() == nil {
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	<-chaos

	seen := map[string]bool{}
	order := map[string][]string{}
	for _, record := range kafkatest.Records(t, c.ListenAddrs(), topic) {
		if m := kafka.MessageOf(record); !seen[m.ID] {
			seen[m.ID] = true
			order[string(m.Key)] = append(order[string(m.Key)], string(m.Value))
		}
	}
	var want []string
	for i := range each {
		want = append(want, fmt.Sprint(i))
	}
	if len(order) != aggregates {
		t.Errorf("%d aggregates, want %d", len(order), aggregates)
	}
	for key, got := range order {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", key, got)
		}
	}
}
