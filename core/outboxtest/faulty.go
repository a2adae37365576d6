package outboxtest

import (
	"context"
	"sync"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// Fault is what one attempt does instead of, or around, a delivery.
type Fault func(ctx context.Context, deliver func(ctx context.Context) error) error

// Pass delivers as if there were no fault.
func Pass() Fault {
	return func(ctx context.Context, deliver func(context.Context) error) error { return deliver(ctx) }
}

// Fail returns err and delivers nothing. Mark err with delivery.Permanent and the like to
// choose the verdict.
func Fail(err error) Fault {
	return func(context.Context, func(context.Context) error) error { return err }
}

// FailAfter delivers and returns err all the same: the acknowledgement was lost, and the
// next attempt makes a duplicate.
func FailAfter(err error) Fault {
	return func(ctx context.Context, deliver func(context.Context) error) error {
		if inner := deliver(ctx); inner != nil {
			return inner
		}
		return err
	}
}

// Panic panics with a value and delivers nothing.
func Panic(value any) Fault {
	return func(context.Context, func(context.Context) error) error { panic(value) }
}

// Hang delivers nothing and waits until the attempt's context ends.
func Hang() Fault {
	return func(ctx context.Context, _ func(context.Context) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
}

// Faulty is a delivery.Handler that follows a script for each message: its first attempt has
// the first fault, its second the second, and those after the script are delivered. It is
// safe for concurrent use. A handler's other abilities (batches, transactions, fingerprints)
// are hidden, so every delivery goes through the script.
type Faulty struct {
	inner  delivery.Handler
	script []Fault

	mu       sync.Mutex
	attempts map[outbox.MessageID]int // guarded by mu
}

var _ delivery.Handler = (*Faulty)(nil)

// NewFaulty returns a handler that delivers through inner, which must not be nil, as far as
// the script lets it. Without a script it only counts.
func NewFaulty(inner delivery.Handler, script ...Fault) *Faulty {
	return &Faulty{inner: inner, script: script, attempts: map[outbox.MessageID]int{}}
}

// Type implements delivery.Handler.
func (f *Faulty) Type() destination.Type { return f.inner.Type() }

// Scope implements delivery.Handler.
func (f *Faulty) Scope() claim.Scope { return f.inner.Scope() }

// Deliver implements delivery.Handler.
func (f *Faulty) Deliver(ctx context.Context, e delivery.Envelope) error {
	return f.next(e.MessageID)(ctx, func(ctx context.Context) error { return f.inner.Deliver(ctx, e) })
}

// Attempts returns how often a message was tried.
func (f *Faulty) Attempts(id outbox.MessageID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts[id]
}

func (f *Faulty) next(id outbox.MessageID) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.attempts[id]
	f.attempts[id]++
	if n < len(f.script) {
		return f.script[n]
	}
	return Pass()
}
