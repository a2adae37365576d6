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
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/propagation"
)

// Every message once, in order, whatever duplicates there are; then the offset.
func TestEachMessageOnceInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	var want []string
	var records []*sarama.ProducerMessage
	for i := range 30 {
		id, value := newID(), fmt.Sprint(i)
		want = append(want, value)
		for range 1 + i%3 {
			records = append(records, b.record(id, "order-1", value))
		}
	}
	b.send(records...)
	stop := b.start(b.config())
	b.wantOffset(int64(len(records)))
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	if got := b.committed(len(want)); !slices.Equal(got, want) {
		t.Errorf("effects %q", got)
	}
}

// A second consumer with the same database sees nothing new; another source does.
func TestSourceSeparatesConsumers(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.sendValues(3)
	stop := b.start(b.config())
	b.wantOffset(3)
	_ = stop()

	again := b.config()
	again.Group, again.Source = "replay", "billing/"+b.topic // the first one's default
	var ran atomic.Int32
	work := again.Work
	again.Work = func(ctx context.Context, tx *memstore.Tx, m kafka.Message) error {
		ran.Add(1)
		return work(ctx, tx, m)
	}
	other := again
	other.Group, other.Source = "other", ""
	stopAgain := b.start(again)
	b.sendValues(1)
	b.committed(4)
	_ = stopAgain()
	if ran.Load() != 1 {
		t.Errorf("a replay worked on %d messages, want the 1 that is new", ran.Load())
	}
	b.start(other)
	b.committed(8)
}

func TestPropagationIsRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	m := b.record(newID(), "order-1", "1")
	m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte("satchel-correlation"), Value: []byte("c-42")})
	b.send(m)
	cfg := b.config()
	cfg.Propagation = propagation.NewSet(nil, propagation.Standard()...)
	cfg.Work = func(ctx context.Context, tx *memstore.Tx, _ kafka.Message) error {
		b.effect(tx, propagation.From(ctx, propagation.Correlation))
		return nil
	}
	b.start(cfg)
	if got := b.committed(1); got[0] != "c-42" {
		t.Errorf("correlation %q", got[0])
	}
}

// Members come and go while records arrive: nothing is lost, nothing happens twice.
func TestRebalance(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	const rounds, each = 5, 40
	var want []string
	for round := range rounds {
		var records []*sarama.ProducerMessage
		for i := range each {
			value := fmt.Sprintf("%d-%02d", round, i)
			want = append(want, value)
			records = append(records, b.record(newID(), fmt.Sprint("order-", i%8), value))
		}
		stop := b.start(b.config()) // each round has one more member
		b.send(records...)
		b.committed((round + 1) * each / 2) // somewhere in the middle
		if round%2 == 1 {
			_ = stop()
		}
	}
	got := b.committed(rounds * each)
	order := map[string]string{} // by key, the last value
	for _, value := range got {
		key := value[len(value)-2:]
		n := 0
		_, _ = fmt.Sscan(strings.TrimLeft(key, "0"), &n)
		k := fmt.Sprint(n % 8)
		if value <= order[k] {
			t.Errorf("key %s: %s after %s", k, value, order[k])
		}
		order[k] = value
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d effects, want %d, each once", len(got), len(want))
	}
}

// Work that is interrupted by the end of the run is not marked, and comes again.
func TestStopInterruptsWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.sendValues(1)
	cfg := b.config()
	reached := make(chan struct{})
	cfg.Work = func(ctx context.Context, tx *memstore.Tx, m kafka.Message) error {
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}
	stop := b.start(cfg)
	<-reached
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	b.start(b.config())
	if got := b.committed(1); !slices.Equal(got, []string{"0"}) {
		t.Errorf("effects %q", got)
	}
}

// The cluster stops answering: Run ends all the same, without a goroutine left.
func TestStopWhileClusterHangs(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.sendValues(1)
	cfg := b.config()
	cfg.CloseTimeout = 50 * time.Millisecond
	cfg.Sarama.Net.ReadTimeout = time.Hour // the client itself would wait on
	stop := b.start(cfg)
	b.committed(1)
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	for _, key := range []kmsg.Key{kmsg.OffsetCommit, kmsg.LeaveGroup, kmsg.Heartbeat} {
		b.cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.cluster.KeepControl()
			b.cluster.SleepControl(func() { <-gate })
			return nil, nil, false
		})
	}
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
}

// A cluster that is not there does not end Run, and does not keep it either.
func TestClusterUnreachable(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	cfg := b.config()
	cfg.Brokers = []string{"127.0.0.1:1"}
	stop := b.start(cfg)
	time.Sleep(50 * time.Millisecond) // some tries
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
}

// A member whose connections break joins again and goes on.
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.sendValues(1)
	b.start(b.config())
	b.committed(1)
	for _, key := range []kmsg.Key{kmsg.Fetch, kmsg.Heartbeat, kmsg.OffsetCommit} {
		b.cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			return nil, errors.New("cut"), true
		})
	}
	b.sendValues(3)
	if got := b.committed(4); !slices.Equal(got, []string{"0", "0", "1", "2"}) {
		t.Errorf("effects %q", got)
	}
}
