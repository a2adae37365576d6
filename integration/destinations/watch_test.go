package destinations

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
)

// watch stands in front of a handler and notes what it is asked to do.
type watch struct {
	delivery.Handler
	mu    sync.Mutex
	calls []call
}

// call is one call of a handler, or the part of it that concerns one destination.
type call struct {
	name    string
	entries int
	at      time.Time
}

// watchBatch is a watch on a handler that takes batches.
type watchBatch struct{ *watch }

// watched returns what the relay is given, and what the test looks at.
func watched(h delivery.Handler) (delivery.Handler, *watch) {
	w := &watch{Handler: h}
	if _, ok := h.(delivery.BatchHandler); ok {
		return watchBatch{w}, w
	}
	return w, w
}

// Deliver implements delivery.Handler.
func (w *watch) Deliver(ctx context.Context, e delivery.Envelope) error {
	w.note(e)
	return w.Handler.Deliver(ctx, e)
}

// DeliverBatch implements delivery.BatchHandler.
func (w watchBatch) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	w.note(batch...)
	return w.Handler.(delivery.BatchHandler).DeliverBatch(ctx, batch)
}

// Fingerprint implements delivery.Fingerprinter: a handler without one matches everything.
func (w *watch) Fingerprint(ctx context.Context, name string) string {
	if f, ok := w.Handler.(delivery.Fingerprinter); ok {
		return f.Fingerprint(ctx, name)
	}
	return ""
}

func (w *watch) note(batch ...delivery.Envelope) {
	entries := map[string]int{}
	for _, e := range batch {
		entries[e.Destination]++
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, n := range entries {
		w.calls = append(w.calls, call{name, n, time.Now()})
	}
}

// between returns the calls for a destination that began in a period.
func (w *watch) between(name string, from, to time.Time) (calls []call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.name == name && c.at.After(from) && c.at.Before(to) {
			calls = append(calls, c)
		}
	}
	return calls
}

// observer is told of attempts and of circuit breakers.
type observer struct {
	mu        sync.Mutex
	delivered map[string]int // by destination
	changes   map[string][]change
}

// change is a change of a circuit breaker.
type change struct {
	to relay.BreakerState
	at time.Time
}

var _ relay.BreakerObserver = (*observer)(nil)

func newObserver() *observer {
	return &observer{delivered: map[string]int{}, changes: map[string][]change{}}
}

// Attempted implements relay.Observer.
func (o *observer) Attempted(_ context.Context, a relay.Attempt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.Verdict == delivery.VerdictDelivered {
		o.delivered[a.Envelope.Destination]++
	}
}

// BreakerChanged implements relay.BreakerObserver.
func (o *observer) BreakerChanged(_ context.Context, _ destination.Type, name string, state relay.BreakerState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes[name] = append(o.changes[name], change{state, time.Now()})
}

// count returns how many entries were delivered to a destination.
func (o *observer) count(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivered[name]
}

// breaker returns what was told about the breaker of a destination.
func (o *observer) breaker(name string) []change {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.changes[name])
}

// state is that after the last of the changes.
func state(changes []change) relay.BreakerState {
	if len(changes) == 0 {
		return relay.BreakerClosed
	}
	return changes[len(changes)-1].to
}

// sinceOpened returns the last change from closed to open, and those that followed. An attempt that was under way when
// the breaker opened, and succeeds, closes it once more: so the first is not always the one that counts.
func sinceOpened(changes []change) []change {
	for i, c := range slices.Backward(changes) {
		if c.to == relay.BreakerOpen && state(changes[:i]) == relay.BreakerClosed {
			return changes[i:]
		}
	}
	return nil
}

// probes counts how often a breaker was half-open.
func probes(changes []change) (n int) {
	for _, c := range changes {
		if c.to == relay.BreakerHalfOpen {
			n++
		}
	}
	return n
}
