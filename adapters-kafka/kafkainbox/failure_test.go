package kafkainbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
)

var errWork = errors.New("stock is empty")

// failing makes the work of cfg fail on its first n tries of the value "1".
func failing(b *bench, cfg config, n int, fail func() error) (config, *atomic.Int32) {
	tries, work := new(atomic.Int32), cfg.Work
	cfg.Work = func(ctx context.Context, tx *memstore.Tx, m kafka.Message) error {
		if string(m.Value) == "1" && int(tries.Add(1)) <= n {
			b.effect(tx, "must not show: the transaction is rolled back")
			return fail()
		}
		return work(ctx, tx, m)
	}
	return cfg, tries
}

// Failures that pass: the record is tried again in place, and order is kept.
func TestFailuresThatPass(t *testing.T) {
	t.Parallel()
	transient := &fault.Persistence{Op: "test", Transient: true, Err: errWork}
	for name, c := range map[string]struct {
		times int // MaxAttempts is 3
		fail  func() error
	}{
		"retryable":                  {2, func() error { return errWork }},
		"panic":                      {2, func() error { panic("no") }},
		"retry later":                {2, func() error { return delivery.RetryAfter(errWork, time.Millisecond) }},
		"unavailable is free":        {10, func() error { return delivery.Unavailable(errWork) }},
		"unresolvable is free":       {10, func() error { return delivery.Unresolvable(errWork) }},
		"transient database is free": {10, func() error { return fmt.Errorf("wrapped: %w", transient) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.sendValues(3)
			cfg, tries := failing(b, b.config(), c.times, c.fail)
			cfg.MaxAttempts = 3
			b.start(cfg)
			b.wantOffset(3)
			if got := b.committed(3); !slices.Equal(got, []string{"0", "1", "2"}) {
				t.Errorf("effects %q", got)
			}
			if int(tries.Load()) != c.times+1 {
				t.Errorf("%d tries, want %d", tries.Load(), c.times+1)
			}
		})
	}
}

// A transaction that cannot begin, or whose commit fails for a passing reason, is not
// the record's fault, and nothing is marked before a commit.
func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"begin", "commit"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.sendValues(2)
			cfg := b.config()
			cfg.MaxAttempts = 2
			inTx, down := cfg.InTx, new(atomic.Int32)
			cfg.InTx = func(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error {
				if down.Add(1) > 10 {
					return inTx(ctx, fn)
				}
				if when == "begin" {
					return errors.New("connection refused")
				}
				tx := b.store.Begin()
				defer tx.Rollback()
				if err := fn(ctx, tx); err != nil {
					return err
				}
				return &fault.Persistence{Op: "commit", Transient: true, Err: errors.New("connection reset")}
			}
			b.start(cfg)
			b.wantOffset(2)
			if got := b.committed(2); !slices.Equal(got, []string{"0", "1"}) {
				t.Errorf("effects %q", got)
			}
		})
	}
}

// Failures that stay: what happens to the record without and with a dead-letter topic.
func TestFailuresThatStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id       string
		fail     func() error
		reason   kafkainbox.Reason
		attempts int
	}{
		"exhausted":     {newID(), func() error { return errWork }, kafkainbox.Exhausted, 3},
		"permanent":     {newID(), func() error { return delivery.Permanent(errWork) }, kafkainbox.Refused, 1},
		"no id":         {"", nil, kafkainbox.NoMessageID, 0},
		"unusable id":   {strings.Repeat("x", 256), nil, kafkainbox.NoMessageID, 0},
		"id not a text": {"\xff", nil, kafkainbox.NoMessageID, 0},
	} {
		send := func(b *bench) {
			bad := b.record(c.id, "order-1", "1")
			bad.Headers = append(bad.Headers,
				sarama.RecordHeader{Key: []byte("zone"), Value: []byte("eu")},
				sarama.RecordHeader{Key: []byte("satchel-dead-letter-reason"), Value: []byte("of an earlier stay")})
			b.send(b.record(newID(), "order-1", "0"), bad, b.record(newID(), "order-1", "2"))
		}
		t.Run(name+"/stop", func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			send(b)
			cfg, tries := failing(b, b.config(), 1000, c.fail)
			cfg.MaxAttempts = 3
			err := b.run(cfg)
			var failed *kafkainbox.RecordError
			if !errors.As(err, &failed) {
				t.Fatalf("run: %v", err)
			}
			if failed.Topic != b.topic || failed.Partition != 0 || failed.Offset != 1 || failed.Reason != c.reason || failed.Attempts != c.attempts {
				t.Errorf("error %+v", failed)
			}
			if c.fail != nil && !errors.Is(err, errWork) {
				t.Errorf("the cause is not in the error: %v", err)
			}
			if int(tries.Load()) != c.attempts {
				t.Errorf("%d tries, want %d", tries.Load(), c.attempts)
			}
			b.wantOffset(1) // that of the failed record
			if got := b.committed(1); !slices.Equal(got, []string{"0"}) {
				t.Errorf("effects %q: nothing behind the failed record may run", got)
			}
		})
		t.Run(name+"/dead letter", func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			letters := kafkatest.Topic(t, b.brokers, 1)
			send(b)
			cfg, _ := failing(b, b.config(), 1000, c.fail)
			cfg.MaxAttempts = 3
			cfg.DeadLetterTopic = func(string) string { return letters }
			b.start(cfg)
			b.wantOffset(3)
			if got := b.committed(2); !slices.Equal(got, []string{"0", "2"}) {
				t.Errorf("effects %q", got)
			}
			got := kafkatest.Records(t, b.brokers, letters)
			if len(got) != 1 {
				t.Fatalf("%d dead letters", len(got))
			}
			own := 0
			for _, h := range got[0].Headers {
				if string(h.Key) == "satchel-dead-letter-reason" {
					own++
				}
			}
			if own != 1 {
				t.Errorf("%d headers with a reason, want that of this stay only", own)
			}
			m := kafka.MessageOf(got[0])
			if m.ID != c.id || string(m.Key) != "order-1" || string(m.Value) != "1" || m.Headers["zone"] != "eu" {
				t.Errorf("dead letter %+v is not the record", m)
			}
			for name, want := range map[string]string{
				"reason": string(c.reason), "attempts": fmt.Sprint(c.attempts), "group": "billing",
				"topic": b.topic, "partition": "0", "offset": "1",
			} {
				if got := string(m.Context["dead-letter-"+name]); got != fmt.Sprintf("%q", want) {
					t.Errorf("header %s is %s, want %q", name, got, want)
				}
			}
			if c.fail != nil && !strings.Contains(string(m.Context["dead-letter-error"]), errWork.Error()) {
				t.Errorf("error header %s", m.Context["dead-letter-error"])
			}
		})
	}
}

// A dead letter that cannot be stored stops the consumer; the record is not lost.
func TestDeadLetterTopicMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.send(b.record("", "order-1", "1"))
	cfg := b.config()
	cfg.MaxAttempts = 2
	cfg.DeadLetterTopic = func(string) string { return "never-created" }
	err := b.run(cfg)
	var failed *kafkainbox.RecordError
	if !errors.As(err, &failed) || !errors.Is(err, sarama.ErrUnknownTopicOrPartition) || !fault.IsInvalid(err) {
		t.Fatalf("run: %v, want both causes", err)
	}
	b.cluster.CreateTopic("never-created", 1, nil)
	b.start(cfg)
	b.wantOffset(1)
}

// Tombstones and keyless records stay what they are in the dead-letter topic.
func TestDeadLetterKeepsNil(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	letters := kafkatest.Topic(t, b.brokers, 1)
	b.send(&sarama.ProducerMessage{Topic: b.topic}, &sarama.ProducerMessage{Topic: b.topic, Key: sarama.StringEncoder(""), Value: sarama.StringEncoder("")})
	cfg := b.config()
	cfg.DeadLetterTopic = func(string) string { return letters }
	b.start(cfg)
	b.wantOffset(2)
	got := kafkatest.Records(t, b.brokers, letters)
	if len(got) != 2 || got[0].Key != nil || got[0].Value != nil || got[1].Key == nil || got[1].Value == nil {
		t.Errorf("dead letters %+v", got)
	}
}
