package producer

import (
	"context"
	"sync/atomic"

	"github.com/IBM/sarama"
)

// parcel is what one caller hands over together and waits for together: a caller that
// waited for each record would be woken for each.
type parcel struct {
	ctx     context.Context // the caller's
	link    *link
	records []*sarama.ProducerMessage
	items   []item // of each record
	open    atomic.Int64
	done    chan struct{} // closed when open has come to 0
}

// item is a record's place in its parcel, and its encoder: it refuses once the caller
// has left. The client encodes a record when it puts it into a request, so what still
// waits in its queues then, for example for a partition without a leader, is dropped
// instead of sent late.
type item struct {
	sarama.Encoder
	parcel *parcel
	err    error // set before the state is settled
	state  atomic.Int32
}

// The states of an item.
const (
	open    = iota // no result, and a caller who waits for it
	settled        // the result is there
	left           // no result when the caller left
)

// newParcel makes the records know their places. There is at least one.
func newParcel(ctx context.Context, l *link, records []*sarama.ProducerMessage) *parcel {
	c := &parcel{ctx: ctx, link: l, records: records, items: make([]item, len(records)), done: make(chan struct{})}
	c.open.Store(int64(len(records)))
	for i, m := range records {
		it := &c.items[i]
		it.parcel, m.Metadata = c, it
		switch {
		case m.Value != nil:
			it.Encoder, m.Value = m.Value, it
		case m.Key != nil:
			it.Encoder, m.Key = m.Key, it
		}
	}
	return c
}

// Encode implements sarama.Encoder.
func (it *item) Encode() ([]byte, error) {
	if ctx := it.parcel.ctx; ctx.Err() != nil {
		return nil, ended(ctx)
	}
	return it.Encoder.Encode()
}

// settle notes the one result of a record. It never waits for the caller, who may have
// left.
func (it *item) settle(err error) {
	it.err = err
	if it.state.Swap(settled) == left {
		it.parcel.link.left.Add(-1)
	}
	if it.parcel.open.Add(-1) == 0 {
		close(it.parcel.done)
	}
}

// refuse settles the records from the i-th on.
func (c *parcel) refuse(i int, err error) {
	for ; i < len(c.items); i++ {
		c.items[i].settle(err)
	}
}

// results returns what is known when the caller stops waiting. A result that is there
// counts, however late it is.
func (c *parcel) results() []error {
	results := make([]error, len(c.items))
	for i := range c.items {
		switch it := &c.items[i]; {
		case it.isSettled():
			results[i] = it.err
		case c.ctx.Err() != nil:
			results[i] = &UnknownError{Err: ended(c.ctx)}
		default:
			results[i] = &UnknownError{Err: ErrClosed}
		}
	}
	return results
}

// isSettled reports whether the result is there; if not, the caller leaves.
func (it *item) isSettled() bool {
	if it.state.Load() == settled {
		return true
	}
	it.parcel.link.left.Add(1) // first: the result, when it comes, takes it back
	if it.state.CompareAndSwap(open, left) {
		return false
	}
	it.parcel.link.left.Add(-1)
	return true
}
