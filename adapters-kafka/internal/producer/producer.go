package producer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/severable"
)

// Producer is safe for concurrent use.
type Producer struct {
	brokers []string
	cfg     *sarama.Config
	dialer  *severable.Dialer

	closing  chan struct{} // closed when Close begins
	ended    chan struct{} // closed when nothing of the producer runs any more
	inFlight atomic.Int64  // records that the client has and that have no result

	mu      sync.Mutex
	closed  bool
	link    *link
	attempt *attempt
	users   sync.WaitGroup // whoever uses a link, makes one or closes one
}

// attempt is one try to connect, shared by everybody who waits for it.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

// New returns a producer that is not connected yet. It does no I/O; cfg is copied.
func New(brokers []string, cfg *sarama.Config) *Producer {
	p := &Producer{brokers: brokers, closing: make(chan struct{}), ended: make(chan struct{})}
	p.cfg, p.dialer = severable.Install(cfg)
	return p
}

// Connect waits for a connection, or for the failure of one try to make it.
func (p *Producer) Connect(ctx context.Context) error {
	_, err := p.connected(ctx)
	return err
}

// ClusterID returns the id that the cluster calls itself by, connecting if need be;
// "" when there is no connection or the cluster does not say.
func (p *Producer) ClusterID(ctx context.Context) string {
	l, err := p.connected(ctx)
	if err != nil {
		return ""
	}
	return l.clusterID
}

// Reachable reports whether some broker still answers, after a connection broke. It
// is true when that cannot be told before ctx ends.
func (p *Producer) Reachable(ctx context.Context, topic string) bool {
	p.mu.Lock()
	if p.closed || p.link == nil {
		p.mu.Unlock()
		return true
	}
	client, result := p.link.client, make(chan error, 1)
	p.users.Go(func() { result <- client.RefreshMetadata(topic) })
	p.mu.Unlock()
	select {
	case err := <-result:
		return !errors.Is(err, sarama.ErrOutOfBrokers)
	case <-ctx.Done():
		return true
	}
}

// Left reports whether the client has records without a result whose callers left. One
// of them can still be stored, after whatever another producer sends meanwhile.
func (p *Producer) Left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil && p.link.left.Load() > 0
}

// connected returns the link. Every caller waits for at most one try.
func (p *Producer) connected(ctx context.Context) (*link, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, &NotSentError{Err: ErrClosed}
	}
	if p.link != nil {
		defer p.mu.Unlock()
		return p.link, nil
	}
	a := p.attempt
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		p.attempt = a
		p.users.Go(func() { p.try(a) })
	}
	p.mu.Unlock()

	select {
	case <-a.done:
	case <-ctx.Done():
		return nil, NotSentIn(ctx)
	case <-p.closing:
		return nil, &NotSentError{Err: ErrClosed}
	}
	if a.err != nil {
		return nil, &NotSentError{Err: a.err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link, nil
}

// try makes one connection. Close waits for it like for a sender.
func (p *Producer) try(a *attempt) {
	l, err := dial(p.brokers, p.cfg, &p.inFlight)
	p.mu.Lock()
	defer p.mu.Unlock()
	a.err = err
	if err == nil {
		p.link = l
	}
	p.attempt = nil
	close(a.done)
}
