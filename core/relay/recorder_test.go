package relay_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// call is one call of a recorder.
type call struct {
	ID          outbox.ID
	Message     outbox.MessageID
	Aggregate   string
	Destination string
	Attempt     int
	Start, End  time.Time // End is zero while the call runs
}

// recorder is a handler that notes its calls and does what it is told. It reports
// calls of one aggregate that overlap.
type recorder struct {
	t    testing.TB
	typ  destination.Type
	to   claim.Scope
	work func(ctx context.Context, e delivery.Envelope, nth int) error // nth call for this entry, from 1

	mu      sync.Mutex
	calls   []call
	counts  map[outbox.ID]int
	running map[string]int
	now     int
	most    int // the most calls at once
}

// handler returns a recorder of type T and scope All; nil work always succeeds.
func handler(t testing.TB, work func(ctx context.Context, e delivery.Envelope, nth int) error) *recorder {
	return handlerOf(t, "T", work)
}

func handlerOf(t testing.TB, typ destination.Type, work func(context.Context, delivery.Envelope, int) error) *recorder {
	return &recorder{t: t, typ: typ, to: claim.All(), work: work, counts: map[outbox.ID]int{}, running: map[string]int{}}
}

func (r *recorder) Type() destination.Type { return r.typ }
func (r *recorder) Scope() claim.Scope     { return r.to }

func (r *recorder) Deliver(ctx context.Context, e delivery.Envelope) error {
	at, nth := r.begin(e)
	defer r.end(at, e)
	if r.work == nil {
		return nil
	}
	return r.work(ctx, e, nth)
}

func (r *recorder) begin(e delivery.Envelope) (at, nth int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[e.ID]++
	if e.AggregateID != "" {
		if r.running[e.AggregateID]++; r.running[e.AggregateID] > 1 {
			r.t.Errorf("entry %d: two calls of aggregate %s at once", e.ID, e.AggregateID)
		}
	}
	r.now++
	r.most = max(r.most, r.now)
	r.calls = append(r.calls, call{ID: e.ID, Message: e.MessageID, Aggregate: e.AggregateID, Destination: e.Destination, Attempt: e.Attempt, Start: time.Now()})
	return len(r.calls) - 1, r.counts[e.ID]
}

func (r *recorder) end(at int, e delivery.Envelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[at].End = time.Now()
	r.running[e.AggregateID]--
	r.now--
}

func (r *recorder) seen() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// peak returns the largest number of calls at once.
func (r *recorder) peak() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// of returns the calls for one entry.
func (r *recorder) of(id outbox.ID) []call {
	return slices.DeleteFunc(r.seen(), func(c call) bool { return c.ID != id })
}

// order returns the ids in the order of the calls.
func (r *recorder) order() (ids []outbox.ID) {
	for _, c := range r.seen() {
		ids = append(ids, c.ID)
	}
	return ids
}

// attempts is an observer that notes what it is told.
type attempts struct {
	mu       sync.Mutex
	told     []relay.Attempt
	breakers []relay.BreakerState
}

func (a *attempts) Attempted(_ context.Context, at relay.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, at)
}

func (a *attempts) BreakerChanged(_ context.Context, _ destination.Type, _ string, s relay.BreakerState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.breakers = append(a.breakers, s)
}

func (a *attempts) all() []relay.Attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

func (a *attempts) states() []relay.BreakerState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.breakers)
}
