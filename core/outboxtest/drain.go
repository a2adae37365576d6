package outboxtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
)

// drainTimeout bounds one Drain: nothing takes so long unless a handler hangs.
const drainTimeout = time.Minute

// Drain delivers what is due, in the calling goroutine's time, until nothing is left, and
// returns the attempts in the order in which their outcomes were recorded. One entry is
// handled at a time. A retryable failure is tried again at once, so an entry whose handler
// always fails uses up its attempts and is dead-lettered. What stays behind is what waits for
// something: a scheduled time, a destination that no handler serves, an unresolvable or
// unavailable one, or an older entry of its aggregate that does.
//
// A relay that cannot be made, or an outcome that was not recorded, fails the test.
func Drain(t testing.TB, store relay.Store, handlers ...delivery.Handler) []relay.Attempt {
	t.Helper()
	var log attempts
	r, err := relay.New(store, handlers, relay.Config{
		Concurrency: 1, BackoffBase: 1, BackoffMax: 1,
		Observers: []relay.Observer{&log},
	})
	if err != nil {
		t.Fatalf("outboxtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), drainTimeout)
	defer cancel()
	if _, err := r.Drain(ctx); err != nil {
		t.Fatalf("outboxtest: drain: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatalf("outboxtest: drain did not end within %v", drainTimeout)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, a := range log.all {
		if !a.Recorded {
			t.Errorf("outboxtest: the outcome of entry %d was not recorded", a.Envelope.ID)
		}
	}
	return log.all
}

// attempts is an observer that keeps what it is told.
type attempts struct {
	mu  sync.Mutex
	all []relay.Attempt
}

// Attempted implements relay.Observer.
func (l *attempts) Attempted(_ context.Context, a relay.Attempt) {
	a.Envelope = clone(a.Envelope)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, a)
}
