package producer

import (
	"context"
	"fmt"
)

// Close refuses new records, flushes what was handed over and releases everything.
// When ctx ends first, it cuts the connections and returns an error that says how
// many records were left without a result; what still runs then ends by itself
// within the client's retries. A second Close waits for the same end.
func (p *Producer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.closed = true
		close(p.closing)
	}
	l := p.link
	p.mu.Unlock()
	if first {
		if l == nil { // nothing was ever sent: there is no reason to let a dial go on
			p.dialer.Sever()
		}
		go p.finish()
	}
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-p.ended:
		return nil
	default:
	}
	left := p.inFlight.Load()
	p.dialer.Sever()
	return fmt.Errorf("kafka: the producer was closed with %d records without a result: %w", left, context.Cause(ctx))
}

// finish ends in this order: first whoever could still use the client, and links
// that were replaced; then the client, which flushes.
func (p *Producer) finish() {
	defer close(p.ended)
	p.users.Wait()
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil {
		l.close()
	}
	p.dialer.Sever() // nothing is open any more; releases the dialer's context
}
