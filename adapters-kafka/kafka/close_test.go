package kafka_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

func TestCloseUnused(t *testing.T) {
	t.Parallel()
	h := open(t, []string{closedPort(t)}, nil)
	for range 2 {
		if err := h.Close(within(t)); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func TestDeliverAfterClose(t *testing.T) {
	t.Parallel()
	_, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	if err := h.Close(within(t)); err != nil {
		t.Fatalf("close: %v", err)
	}
	err := h.Deliver(within(t), entry(topic, "order-1", `2`))
	wantVerdict(t, err, delivery.VerdictUnavailable)
	if !errors.Is(err, kafka.ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
}

// Close waits for what is under way, and Deliver then has its result.
func TestCloseFlushes(t *testing.T) {
	t.Parallel()
	c, h, topic := faulty(t, 1)
	deliver(t, h, entry(topic, "order-1", `1`))
	reached, release := stall(t, c, kmsg.Produce)
	result := make(chan error, 1)
	go func() { result <- h.Deliver(context.Background(), entry(topic, "order-1", `2`)) }()
	<-reached
	closed := make(chan error, 1)
	go func() { closed <- h.Close(within(t)) }()
	select {
	case err := <-closed:
		t.Fatalf("close returned while a record was under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-result; err != nil {
		t.Errorf("deliver: %v", err)
	}
	if got := values(kafkatest.Records(t, c.ListenAddrs(), topic)); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("records %q", got)
	}
}

// Close returns by its deadline although the broker hangs, says what was left, and
// the blocked delivery ends too although nobody ended its context.
func TestCloseWhileBrokerHangs(t *testing.T) {
	t.Parallel()
	c, _, topic := faulty(t, 1)
	h := open(t, c.ListenAddrs(), func(cfg *kafka.Config) {
		cfg.Sarama.Net.ReadTimeout = time.Hour // the client itself would wait on
	})
	deliver(t, h, entry(topic, "order-1", `1`))
	reached, _ := stall(t, c, kmsg.Produce)
	result := make(chan error, 1)
	go func() { result <- h.Deliver(context.Background(), entry(topic, "order-1", `2`)) }()
	<-reached
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err := h.Close(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("close: %v, want the end of its context", err)
	}
	const want = "kafka: the producer was closed with 1 records without a result: context deadline exceeded"
	if err.Error() != want {
		t.Errorf("close says %q, want %q", err, want)
	}
	select {
	case err := <-result:
		if err == nil {
			t.Error("deliver reports success")
		}
	case <-time.After(patience):
		t.Fatal("deliver is still blocked")
	}
	if err := h.Close(within(t)); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// Close ends a try to connect to a broker that accepts and says nothing.
func TestCloseWhileConnecting(t *testing.T) {
	t.Parallel()
	h := open(t, []string{silentBroker(t)}, nil)
	result := make(chan error, 1)
	go func() { result <- h.Deliver(context.Background(), entry("orders", "order-1", `1`)) }()
	time.Sleep(20 * time.Millisecond) // lets the try begin; the outcome is the same if it did not
	if err := h.Close(within(t)); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-result; !errors.Is(err, kafka.ErrClosed) {
		t.Errorf("deliver: %v, want ErrClosed", err)
	}
}

// Deliveries race with Close: none panics, each has a result.
func TestCloseRacesWithDeliver(t *testing.T) {
	t.Parallel()
	_, h, topic := faulty(t, 4)
	deliver(t, h, entry(topic, "order-1", `1`))
	const senders = 8
	done := make(chan error, senders)
	for range senders {
		go func() {
			for {
				if err := h.Deliver(context.Background(), entry(topic, "order-1", `1`)); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	time.Sleep(20 * time.Millisecond)
	if err := h.Close(within(t)); err != nil {
		t.Errorf("close: %v", err)
	}
	for range senders {
		if err := <-done; !errors.Is(err, kafka.ErrClosed) {
			t.Errorf("a delivery ended with %v, want ErrClosed", err)
		}
	}
}
