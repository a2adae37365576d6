package producer

import (
	"context"
	"slices"

	"github.com/IBM/sarama"
)

// Send hands all records to the client, waits for their results and returns them in
// order. It returns as soon as ctx ends. The records belong to the producer from
// here on: their bytes must not change any more.
func (p *Producer) Send(ctx context.Context, records []*sarama.ProducerMessage) []error {
	l, err := p.connected(ctx)
	if err != nil {
		return slices.Repeat([]error{err}, len(records))
	}
	results := p.send(ctx, l, records)
	refused := refusals(results)
	if len(refused) == 0 || !p.renew(ctx, l, records, refused) {
		return results
	}
	if l, err = p.connected(ctx); err != nil {
		return results
	}
	again := make([]*sarama.ProducerMessage, len(refused))
	for k, i := range refused {
		m := records[i]
		again[k] = &sarama.ProducerMessage{Topic: m.Topic, Key: m.Key, Value: m.Value, Headers: m.Headers}
	}
	for k, err := range p.send(ctx, l, again) {
		results[refused[k]] = err
	}
	return results
}

// send is Send over one link.
func (p *Producer) send(ctx context.Context, l *link, records []*sarama.ProducerMessage) []error {
	results := make([]error, len(records))
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
	if err := p.enter(l); err != nil {
		return err
	}
	defer l.senders.Done()

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

// enter lets the caller write to a link's client. The client panics when it is
// written to after it was closed, so closing a link waits for whoever is in here.
func (p *Producer) enter(l *link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return &NotSentError{Err: ErrClosed}
	case l.retired:
		return &NotSentError{Err: errRenewed}
	}
	l.senders.Add(1)
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
