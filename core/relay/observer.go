package relay

import (
	"context"
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// Attempt is what observers are told about one delivery attempt.
type Attempt struct {
	// Envelope is what the handler was given. Observers must not change it.
	Envelope delivery.Envelope
	// Verdict is what the handler said.
	Verdict delivery.Verdict
	// Err is the handler's error, nil when delivered.
	Err error
	// Disposition is what the relay did with the entry.
	Disposition OutcomeKind
	// Recorded reports whether the store recorded the disposition. False means that
	// the entry was no longer this relay's, or that the store failed and it is not
	// known: the entry may be delivered again.
	Recorded bool
	// Delay is the wait before the next attempt, 0 when there is none.
	Delay time.Duration
	// Started is when the handler was called.
	Started time.Time
	// Duration is how long it took; of a batch, how long the batch took.
	Duration time.Duration
}

// Observer is told of every attempt once, after its outcome was settled or given up.
// It runs on the relay's settling goroutine: a slow observer slows the relay, a
// panicking one is logged and harms nobody.
type Observer interface {
	// Attempted is told of one attempt. It must not keep or change the envelope. ctx does
	// not end with the relay's.
	Attempted(ctx context.Context, a Attempt)
}

// ObserverFunc is an Observer that is a function.
type ObserverFunc func(ctx context.Context, a Attempt)

// Attempted implements Observer.
func (f ObserverFunc) Attempted(ctx context.Context, a Attempt) { f(ctx, a) }

// BreakerState is the state of the circuit breaker of one destination.
type BreakerState string

// The states of a circuit breaker.
const (
	// BreakerClosed: entries are claimed as usual.
	BreakerClosed BreakerState = "closed"
	// BreakerOpen: the destination is down; nothing is claimed for it.
	BreakerOpen BreakerState = "open"
	// BreakerHalfOpen: one entry is claimed to see whether the destination is back.
	BreakerHalfOpen BreakerState = "half-open"
)

// BreakerObserver is an [Observer] that is also told when a circuit breaker changes.
// It is told from the same goroutine, shortly after the change.
type BreakerObserver interface {
	Observer
	// BreakerChanged is told that the breaker of the destination called name, of type t, is
	// now in state.
	BreakerChanged(ctx context.Context, t destination.Type, name string, state BreakerState)
}

// observe tells every observer, each behind its own guard.
func observe(ctx context.Context, logger *slog.Logger, observers []Observer, tell func(Observer)) {
	for _, o := range observers {
		func() {
			defer func() {
				if v := recover(); v != nil {
					logger.ErrorContext(ctx, "observer panicked", "type", typeName(v))
				}
			}()
			tell(o)
		}()
	}
}
