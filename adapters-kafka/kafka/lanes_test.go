package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
	"github.com/satchel-go/satchel/core/delivery"
)

// A configuration that waits for company by itself needs no second producer for that.
func TestBulkLane(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	usual := newUnconnected(t, Config{}).lanes
	if p, err := usual.take(ctx, bulkSize-1); p != usual.main || err != nil {
		t.Errorf("a few records go another way: %v", err)
	}
	if p, err := usual.take(ctx, bulkSize); p != usual.bulk || p == usual.main || err != nil {
		t.Errorf("many records do not go in bulk: %v", err)
	}
	own := DefaultSaramaConfig()
	own.Producer.Flush.Frequency = 5 * time.Millisecond
	if l := newUnconnected(t, Config{Sarama: own}).lanes; l.bulk != l.main {
		t.Error("a configuration with its own wait is not left as it is")
	}
}

// What was given up can still be stored: until that is known, nothing may overtake it
// on another connection.
func TestLanesKeepOrder(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t, kfake.NumBrokers(1))
	topic := kafkatest.Topic(t, c.ListenAddrs(), 1)
	h, err := NewHandler(Config{Connection: Connection{Brokers: c.ListenAddrs()}, Sarama: kafkatest.Quick(DefaultSaramaConfig())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	defer func() { _ = h.Close(ctx) }()

	hold := newHold(c)
	one, many := batchOf(t, topic, 1), batchOf(t, topic, bulkSize)
	hold.giveUp(ctx, t, h, func() {
		if p, err := h.lanes.take(ctx, bulkSize); p != h.lanes.main || err != nil {
			t.Errorf("many records do not queue behind one that was given up: %v", err)
		}
	}, one)
	hold.giveUp(ctx, t, h, func() {
		if p, err := h.lanes.take(ctx, 1); p != h.lanes.bulk || err != nil {
			t.Errorf("one record does not queue behind many that were given up: %v", err)
		}
	}, many)
	hold.giveUp(ctx, t, h, func() {
		ended, end := context.WithCancel(ctx)
		end()
		var unsent *producer.NotSentError
		if _, err := h.lanes.take(ended, 1); !errors.As(err, &unsent) || !errors.Is(err, context.Canceled) {
			t.Errorf("a record is sent while two producers have something to come: %v", err)
		}
	}, one, many)
}

func batchOf(t *testing.T, topic string, n int) (batch []delivery.Envelope) {
	t.Helper()
	for i := range n {
		batch = append(batch, delivery.Envelope{
			MessageID: someID(t), Destination: topic, AggregateID: fmt.Sprint(n, "-", i), Payload: []byte(`1`),
		})
	}
	return batch
}

// hold lets a cluster sit on requests.
type hold struct {
	reached chan struct{}
	gate    atomic.Pointer[chan struct{}] // nil while requests pass
}

func newHold(c *kfake.Cluster) *hold {
	held := &hold{reached: make(chan struct{}, 100)}
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if gate := held.gate.Load(); gate != nil {
			held.reached <- struct{}{}
			c.SleepControl(func() { <-*gate })
		}
		return nil, nil, false
	})
	return held
}

// giveUp delivers all batches at once, gives them up when the cluster has a request of
// each and answers none, runs the check, and waits until the cluster has answered.
func (held *hold) giveUp(ctx context.Context, t *testing.T, h *Handler, check func(), batches ...[]delivery.Envelope) {
	t.Helper()
	for _, batch := range batches { // connects
		if err := errors.Join(h.DeliverBatch(ctx, batch)...); err != nil {
			t.Fatal(err)
		}
	}
	gate := make(chan struct{})
	held.gate.Store(&gate)
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	var sending sync.WaitGroup
	for _, batch := range batches {
		sending.Go(func() { h.DeliverBatch(leaving, batch) })
	}
	for range batches {
		select {
		case <-held.reached:
		case <-ctx.Done():
			t.Error("no request came")
		}
	}
	leave()
	sending.Wait()
	check()
	held.gate.Store(nil)
	close(gate)
	for _, p := range h.lanes.all() {
		for p.Left() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	if ctx.Err() != nil {
		t.Error("what was given up never got a result")
	}
}
