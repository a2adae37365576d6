package producer

import (
	"context"

	"github.com/IBM/sarama"
)

// Send hands all records to the client, waits for their results and returns them in
// order. It returns as soon as ctx ends. The records belong to the producer from
// here on: their bytes must not change any more.
func (p *Producer) Send(ctx context.Context, records []*sarama.ProducerMessage) []error {
	results := make([]error, len(records))
	l, err := p.connected(ctx)
	if err != nil {
		for i := range results {
			results[i] = err
		}
		return results
	}
	waiters := make([]waiter, len(records))
	if err := p.hand(ctx, l, records, waiters); err != nil {
		for i, w := range waiters {
			if w == nil {
				results[i] = err
			}
		}
	}
	for i, w := range waiters {
		if w != nil {
			results[i] = l.await(ctx, w)
		}
	}
	return results
}

// hand puts records into the client's input until all are there, ctx ends or the
// producer closes; it sets a waiter for each that was taken.
func (p *Producer) hand(ctx context.Context, l *link, records []*sarama.ProducerMessage, waiters []waiter) error {
	done := ctx.Done()
	// The client panics when it is written to after it was closed, so Close waits for
	// whoever is in here.
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return &NotSentError{Err: ErrClosed}
	}
	p.senders.Add(1)
	p.mu.Unlock()
	defer p.senders.Done()

	for i, m := range records {
		w := make(waiter, 1)
		m.Metadata = w
		guard(ctx, m)
		l.inFlight.Add(1)
		select {
		case l.async.Input() <- m:
			waiters[i] = w
			continue
		case <-done:
			l.inFlight.Add(-1)
			return &NotSentError{Err: ended(ctx)}
		case <-p.closing:
			l.inFlight.Add(-1)
			return &NotSentError{Err: ErrClosed}
		}
	}
	return nil
}

func (l *link) await(ctx context.Context, w waiter) error {
	select {
	case err := <-w:
		return err
	case <-ctx.Done():
	case <-l.ended:
	}
	select { // a result that is there counts, however late it is
	case err := <-w:
		return err
	default:
	}
	if ctx.Err() != nil {
		return &UnknownError{Err: ended(ctx)}
	}
	return &UnknownError{Err: ErrClosed}
}

// guarded is an encoder that refuses once its caller has left. The client encodes a
// record when it puts it into a request, so what still waits in its queues then,
// for example for a partition without a leader, is dropped instead of sent late.
type guarded struct {
	sarama.Encoder
	ctx context.Context
}

func (g guarded) Encode() ([]byte, error) {
	if g.ctx.Err() != nil {
		return nil, ended(g.ctx)
	}
	return g.Encoder.Encode()
}

func guard(ctx context.Context, m *sarama.ProducerMessage) {
	switch {
	case m.Value != nil:
		m.Value = guarded{Encoder: m.Value, ctx: ctx}
	case m.Key != nil:
		m.Key = guarded{Encoder: m.Key, ctx: ctx}
	}
}
