package producer_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
)

func TestMain(m *testing.M) { kafkatest.VerifyNoLeak(m) }

func settings() *sarama.Config {
	c := kafkatest.Quick(sarama.NewConfig())
	c.Net.MaxOpenRequests = 1
	c.Metadata.Full = false
	c.Metadata.AllowAutoTopicCreation = false
	c.Producer.RequiredAcks, c.Producer.Idempotent = sarama.WaitForAll, true
	c.Producer.Return.Successes = true
	return c
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// gate is a dialer that counts, and waits until it is opened.
type gate struct {
	net.Dialer
	dials atomic.Int32
	open  chan struct{}
}

func (g *gate) Dial(network, address string) (net.Conn, error) {
	g.dials.Add(1)
	<-g.open
	return g.Dialer.Dial(network, address)
}

func (g *gate) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	return g.Dial(network, address)
}

// Any number of callers share one try to connect, and each leaves when it likes.
func TestCallersShareOneTry(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t)
	topic := kafkatest.Topic(t, c.ListenAddrs(), 1)
	cfg, g := settings(), &gate{open: make(chan struct{})}
	cfg.Net.Proxy.Enable, cfg.Net.Proxy.Dialer = true, g
	p := producer.New(c.ListenAddrs()[:1], cfg)
	defer p.Close(within(t))

	gone, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- p.Connect(gone) }()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			m := &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("1")}
			if err := p.Send(within(t), []*sarama.ProducerMessage{m})[0]; err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
	cancel()
	var unsent *producer.NotSentError
	if err := <-left; !errors.As(err, &unsent) || !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	if n := g.dials.Load(); n > 1 {
		t.Errorf("%d dials while the first is under way", n)
	}
	close(g.open)
	wg.Wait()
	if got := len(kafkatest.Records(t, c.ListenAddrs(), topic)); got != 20 {
		t.Errorf("%d records, want 20", got)
	}
}

// A try that failed is not remembered: the next caller makes another.
func TestConnectAfterFailure(t *testing.T) {
	t.Parallel()
	c := kafkatest.Fake(t)
	cfg := settings()
	var down atomic.Bool
	down.Store(true)
	cfg.Net.Proxy.Enable, cfg.Net.Proxy.Dialer = true, dialFunc(func(network, address string) (net.Conn, error) {
		if down.Load() {
			return nil, errors.New("no route")
		}
		return net.Dial(network, address)
	})
	p := producer.New(c.ListenAddrs(), cfg)
	defer p.Close(within(t))
	if err := p.Connect(within(t)); !errors.Is(err, sarama.ErrOutOfBrokers) {
		t.Fatalf("connect: %v", err)
	}
	down.Store(false)
	if err := p.Connect(within(t)); err != nil {
		t.Fatalf("connect: %v", err)
	}
	if !p.Reachable(within(t), "orders") {
		t.Error("a cluster that answers counts as unreachable")
	}
}

type dialFunc func(network, address string) (net.Conn, error)

func (f dialFunc) Dial(network, address string) (net.Conn, error) { return f(network, address) }

// The cause that a context was given is in the error beside what kind of end it was.
func TestCauseIsKept(t *testing.T) {
	t.Parallel()
	p := producer.New([]string{"127.0.0.1:1"}, settings())
	defer p.Close(within(t))
	cause := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	m := &sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder("1")}
	if err := p.Send(ctx, []*sarama.ProducerMessage{m})[0]; !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v", err)
	}
}
