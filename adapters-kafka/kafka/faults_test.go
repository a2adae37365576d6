package kafka_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

func produceFault(topic string, err *kerr.Error, count int) kfake.Fault {
	return kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err, Count: count}
}

// Errors that end while the client retries are not seen, and leave one record.
func TestTransientErrorsAreAbsorbed(t *testing.T) {
	t.Parallel()
	for _, answer := range []*kerr.Error{
		kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition,
		kerr.RequestTimedOut, kerr.KafkaStorageError,
	} {
		t.Run(answer.Message, func(t *testing.T) {
			t.Parallel()
			c, h, topic := faulty(t, 1)
			fault := c.Fault(produceFault(topic, answer, 2))
			deliver(t, h, entry(topic, "order-1", `"a"`))
			if fault.Hits() != 2 {
				t.Fatalf("the fault was hit %d times, want 2", fault.Hits())
			}
			if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{`"a"`}) {
				t.Fatalf("records %q, want one", got)
			}
		})
	}
}

// Errors that stay get their verdict, and the next record goes through once they end.
func TestLastingErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer *kerr.Error
		want   delivery.Verdict
		is     error
	}{
		{kerr.NotEnoughReplicas, delivery.VerdictUnavailable, sarama.ErrNotEnoughReplicas},
		{kerr.LeaderNotAvailable, delivery.VerdictUnavailable, sarama.ErrLeaderNotAvailable},
		{kerr.MessageTooLarge, delivery.VerdictPermanent, sarama.ErrMessageSizeTooLarge},
		{kerr.RecordListTooLarge, delivery.VerdictPermanent, sarama.ErrMessageSetSizeTooLarge},
		{kerr.InvalidRecord, delivery.VerdictPermanent, sarama.ErrInvalidRecord},
		{kerr.InvalidTimestamp, delivery.VerdictPermanent, sarama.ErrInvalidTimestamp},
		{kerr.CorruptMessage, delivery.VerdictPermanent, sarama.ErrInvalidMessage},
		{kerr.TopicAuthorizationFailed, delivery.VerdictUnresolvable, sarama.ErrTopicAuthorizationFailed},
		{kerr.ClusterAuthorizationFailed, delivery.VerdictUnavailable, sarama.ErrClusterAuthorizationFailed},
		{kerr.PolicyViolation, delivery.VerdictRetryable, sarama.ErrPolicyViolation},
		{kerr.RequestTimedOut, delivery.VerdictRetryable, sarama.ErrRequestTimedOut},
		{kerr.UnknownServerError, delivery.VerdictRetryable, sarama.ErrUnknown},
		{kerr.OutOfOrderSequenceNumber, delivery.VerdictRetryable, sarama.ErrOutOfOrderSequenceNumber},
		{kerr.InvalidProducerEpoch, delivery.VerdictRetryable, sarama.ErrInvalidProducerEpoch},
		{kerr.UnknownProducerID, delivery.VerdictRetryable, sarama.ErrUnknownProducerID},
	} {
		t.Run(c.answer.Message, func(t *testing.T) {
			t.Parallel()
			cluster, h, topic := faulty(t, 1)
			deliver(t, h, entry(topic, "order-1", `"before"`))
			fault := cluster.Fault(produceFault(topic, c.answer, -1))
			err := h.Deliver(within(t), entry(topic, "order-1", `"refused"`))
			wantVerdict(t, err, c.want)
			if !errors.Is(err, c.is) {
				t.Fatalf("the cause is not in the error: %v", err)
			}
			fault.Remove()
			deliver(t, h, entry(topic, "order-1", `"after"`))
			got := values(kafkatest.Records(t, cluster.ListenAddrs(), topic))
			if last := got[len(got)-1]; got[0] != `"before"` || last != `"after"` {
				t.Fatalf("records %q", got)
			}
		})
	}
}

// The answer "failed" to a request that was stored leaves one record.
func TestStoredButAnsweredAsFailed(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	c.Fault(produceFault(topic, kerr.RequestTimedOut, 1))
	deliver(t, h, entry(topic, "order-1", `2`))
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"1", "2"}) {
		t.Fatalf("records %q, want each once", got)
	}
}

// A record that the cluster finds too large is dead at once; its neighbours in the
// same request are stored.
func TestOversizedRecordLeavesNeighboursAlone(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t)
	const topic = "small-records"
	if err := c.CreateTopic(topic, 1, map[string]string{"max.message.bytes": "20000"}); err != nil {
		t.Fatal(err)
	}
	h := open(t, c.ListenAddrs(), func(cfg *kafka.Config) {
		cfg.Sarama.Producer.Flush.Frequency = 50 * time.Millisecond // puts the whole batch into one request
	})
	const oversized = 3
	var batch []delivery.Envelope
	for i := range 10 {
		payload := fmt.Sprintf(`"%d"`, i)
		if i == oversized {
			payload = `"` + strings.Repeat("x", 30_000) + `"`
		}
		batch = append(batch, entry(topic, fmt.Sprint("order-", i), payload))
	}
	results := h.DeliverBatch(within(t), batch)
	for i, err := range results {
		if i == oversized {
			wantVerdict(t, err, delivery.VerdictPermanent)
			continue
		}
		if err != nil {
			t.Errorf("neighbour %d failed: %v", i, err)
		}
	}
	if got := kafkatest.Records(t, c.ListenAddrs(), topic); len(got) != 9 {
		t.Errorf("%d records, want 9", len(got))
	}
}

// A record above the client's own bound never reaches the client.
func TestOversizedForTheClient(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	big := entry(topic, "order-1", "")
	big.Payload = bytes.Repeat([]byte("1"), 2<<20)
	results := h.DeliverBatch(within(t), []delivery.Envelope{big, entry(topic, "order-2", `2`)})
	wantVerdict(t, results[0], delivery.VerdictPermanent)
	if results[1] != nil {
		t.Errorf("neighbour: %v", results[1])
	}
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"2"}) {
		t.Errorf("records %q", got)
	}
}

func TestLeaderChange(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	for i := range int32(6) {
		deliver(t, h, entry(topic, "order-1", fmt.Sprint(i)))
		if err := c.MoveTopicPartition(topic, 0, (c.LeaderFor(topic, 0)+1)%3); err != nil {
			t.Fatal(err)
		}
	}
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5"}) {
		t.Errorf("records %q", got)
	}
}

// A connection that is cut after the request was sent: one record all the same.
func TestKilledConnection(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, errors.New("cut"), true
	})
	deliver(t, h, entry(topic, "order-1", `2`))
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("records %q", got)
	}
}

// One of several brokers leaves: its partitions move and everything goes on.
func TestOneBrokerGone(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 3)
	for i := range 9 {
		deliver(t, h, entry(topic, fmt.Sprint("order-", i), `1`))
	}
	if err := c.RemoveNode(c.LeaderFor(topic, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		deliver(t, h, entry(topic, fmt.Sprint("order-", i), `2`))
	}
}
