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
	c := newParcel(ctx, l, records)
	p.hand(l, c)
	select {
	case <-c.done:
	case <-ctx.Done():
	case <-l.ended:
	}
	return c.results()
}

// hand puts records into the client's input until all are there, the caller's context
// ends or the producer closes; those that the client did not take are settled here.
func (p *Producer) hand(l *link, c *parcel) {
	if err := p.enter(l); err != nil {
		c.refuse(0, err)
		return
	}
	defer l.senders.Done()

	done := c.ctx.Done()
	for i, m := range c.records {
		l.inFlight.Add(1)
		select {
		case l.async.Input() <- m:
			continue
		case <-done:
			c.refuse(i, NotSentIn(c.ctx))
		case <-p.closing:
			c.refuse(i, &NotSentError{Err: ErrClosed})
		}
		l.inFlight.Add(-1)
		return
	}
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
