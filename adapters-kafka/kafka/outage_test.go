package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/core/delivery"
)

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentBroker accepts connections and never says a word.
func silentBroker(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().String()
}

func TestNoBrokerAnswers(t *testing.T) {
	t.Parallel()
	h := open(t, []string{closedPort(t)}, nil)
	wantVerdict(t, h.Deliver(within(t), entry("orders", "order-1", `1`)), delivery.VerdictUnavailable)
	wantVerdict(t, h.Connect(within(t)), delivery.VerdictUnavailable)
	if got := h.Fingerprint(within(t), "orders"); got != "" {
		t.Errorf("fingerprint %q of a cluster that was never reached", got)
	}
}

// The first of the addresses is dead: the others do.
func TestSomeBrokersAnswer(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t)
	topic := kafkatest.Topic(t, c.ListenAddrs(), 1)
	for range 4 { // the client tries its addresses in a random order
		h := open(t, append([]string{closedPort(t), closedPort(t)}, c.ListenAddrs()...), nil)
		deliver(t, h, entry(topic, "order-1", `1`))
	}
}

// The cluster refuses a producer id: nothing is ever sent without one.
func TestProducerIDRefused(t *testing.T) {
	t.Parallel()
	for _, answer := range []*kerr.Error{kerr.ClusterAuthorizationFailed, kerr.CoordinatorNotAvailable, kerr.UnknownServerError} {
		t.Run(answer.Message, func(t *testing.T) {
			t.Parallel()
			c, h, topic := faulty(t, 1)
			fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Err: answer, Count: -1})
			wantVerdict(t, h.Deliver(within(t), entry(topic, "order-1", `1`)), delivery.VerdictUnavailable)
			if fault.Hits() == 0 {
				t.Error("the fault was not hit")
			}
			fault.Remove()
			deliver(t, h, entry(topic, "order-1", `2`))
			if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"2"}) {
				t.Errorf("records %q", got)
			}
		})
	}
}

// The cluster goes away under a connected handler: unavailable, not charged.
func TestClusterGoesAway(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	c.Close()
	wantVerdict(t, h.Deliver(within(t), entry(topic, "order-1", `2`)), delivery.VerdictUnavailable)
}

// An attempt whose time is up before there was a connection is the cluster's fault.
func TestSilentBrokerWhileConnecting(t *testing.T) {
	t.Parallel()
	h := open(t, []string{silentBroker(t)}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err := h.Deliver(ctx, entry("orders", "order-1", `1`))
	wantVerdict(t, err, delivery.VerdictUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the end of the context is not in the error: %v", err)
	}
}

// An attempt that its caller cancelled says nothing about the cluster.
func TestCancelledWhileConnecting(t *testing.T) {
	t.Parallel()
	h := open(t, []string{silentBroker(t)}, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("lease lost"))
	err := h.Deliver(ctx, entry("orders", "order-1", `1`))
	wantVerdict(t, err, delivery.VerdictRetryable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// stall makes the cluster sit on the next request of a kind until release is called.
func stall(t *testing.T, c *kfake.Cluster, key kmsg.Key) (reached <-chan struct{}, release func()) {
	t.Helper()
	hit, gate := make(chan struct{}), make(chan struct{})
	c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		close(hit)
		c.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	var released bool
	release = func() {
		if !released {
			released = true
			close(gate)
		}
	}
	t.Cleanup(release)
	return hit, release
}

// Deliver returns when its context ends although the broker does not answer, and the
// late result harms nobody.
func TestBrokerDoesNotAnswerInTime(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	reached, release := stall(t, c, kmsg.Produce)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-reached; cancel() }()
	err := h.Deliver(ctx, entry(topic, "order-1", `2`))
	wantVerdict(t, err, delivery.VerdictRetryable)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	release()
	deliver(t, h, entry(topic, "order-1", `3`))
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("records %q: the late one comes before what followed it", got)
	}
}

// A record that still waits in the client when its caller leaves is not sent later.
func TestAbandonedRecordIsNotSent(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	const late = "created-later"
	reached, release := stall(t, c, kmsg.Metadata)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-reached; cancel() }()
	if err := h.Deliver(ctx, entry(late, "order-2", `2`)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if err := c.CreateTopic(late, 1, nil); err != nil {
		t.Fatal(err)
	}
	release()
	deliver(t, h, entry(late, "order-2", `3`))
	if got := values(kafkatest.Records(t, c.ListenAddrs(), late)); !slices.Equal(got, []string{"3"}) {
		t.Errorf("records %q, want only what was not given up", got)
	}
}

func TestUnknownTopic(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	const late = "created-later"
	for range 3 {
		wantVerdict(t, h.Deliver(within(t), entry(late, "order-1", `1`)), delivery.VerdictUnresolvable)
	}
	// The client now refuses to ask about this topic for a while; others go on.
	wantVerdict(t, h.Deliver(within(t), entry(late, "order-1", `1`)), delivery.VerdictUnavailable)
	deliver(t, h, entry(topic, "order-1", `1`))
	if c.TopicInfo(late) != nil {
		t.Error("asking for a topic created it")
	}
	// Once the cluster has it, what the client remembers no longer counts.
	if err := c.CreateTopic(late, 1, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := h.Deliver(within(t), entry(late, fmt.Sprint("order-", i), `1`)); err != nil {
				t.Errorf("deliver: %v", err)
			}
		})
	}
	wg.Wait()
	if got := len(kafkatest.Records(t, c.ListenAddrs(), late)); got != 8 {
		t.Errorf("%d records, want 8", got)
	}
}

func TestTopicNamesThatNoClusterAccepts(t *testing.T) {
	t.Parallel()
	h := open(t, []string{closedPort(t)}, nil) // refused without a cluster
	for _, topic := range []string{".", "..", "a b", "ä", "a/b", string(make([]byte, 10))} {
		wantVerdict(t, h.Deliver(within(t), entry(topic, "order-1", `1`)), delivery.VerdictPermanent)
	}
}
