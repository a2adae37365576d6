package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// bubble runs a test in virtual time, beside the others.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// entryOf returns an entry of type T for destination "d".
func entryOf(aggregate string) outbox.Entry {
	return outbox.Entry{
		DestinationType: "T", Destination: "d", EventType: "e", AggregateID: aggregate, Payload: json.RawMessage(`{}`),
	}
}

// entries returns n entries, the i-th of aggregate name(i).
func entries(n int, name func(i int) string) []outbox.Entry {
	out := make([]outbox.Entry, n)
	for i := range out {
		out[i] = entryOf(name(i))
	}
	return out
}

func unordered(int) string { return "" }

func publish(t testing.TB, s *memstore.Store, all ...outbox.Entry) []outbox.ID {
	t.Helper()
	tx := s.Begin()
	ids, err := memstore.NewPublisher(s, outbox.Config{}).PublishAll(context.Background(), tx, all...)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

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

// running is a relay under way.
type running struct {
	*relay.Relay
	t      testing.TB
	cancel context.CancelFunc
	done   chan error
}

// newRelay is relay.New, which must succeed.
func newRelay(t testing.TB, s relay.Store, cfg relay.Config, handlers ...delivery.Handler) *relay.Relay {
	t.Helper()
	r, err := relay.New(s, handlers, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func run(t testing.TB, r *relay.Relay) *running {
	ctx, cancel := context.WithCancel(context.Background())
	x := &running{Relay: r, t: t, cancel: cancel, done: make(chan error, 1)}
	go func() { x.done <- r.Run(ctx) }()
	return x
}

// start runs a new relay.
func start(t testing.TB, s relay.Store, cfg relay.Config, handlers ...delivery.Handler) *running {
	t.Helper()
	return run(t, newRelay(t, s, cfg, handlers...))
}

// stop ends the relay and returns what Run returned.
func (x *running) stop() error {
	x.cancel()
	return <-x.done
}

// end stops a relay that must stop cleanly.
func (x *running) end() {
	x.t.Helper()
	if err := x.stop(); err != nil {
		x.t.Errorf("Run: %v", err)
	}
}

// until waits for a condition, an hour at most, looking less and less often.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for began := time.Now(); !cond(); time.Sleep(max(5*time.Millisecond, time.Since(began)/20)) {
		if time.Since(began) > time.Hour {
			t.Fatal("in vain waited for: " + what)
		}
	}
}

func rows(s *memstore.Store) map[outbox.ID]memstore.Row {
	out := map[outbox.ID]memstore.Row{}
	for _, r := range s.Rows() {
		out[r.ID] = r
	}
	return out
}

func count(s *memstore.Store, state outbox.State) (n int) {
	for _, r := range s.Rows() {
		if r.State == state {
			n++
		}
	}
	return n
}

// settled reports whether nothing is left to do in s.
func settled(s *memstore.Store) func() bool {
	return func() bool { return count(s, outbox.Pending)+count(s, outbox.Processing) == 0 }
}

// wantStates checks the state of each entry.
func wantStates(t testing.TB, s *memstore.Store, ids []outbox.ID, want ...outbox.State) {
	t.Helper()
	all := rows(s)
	for i, id := range ids {
		if got := all[id].State; got != want[min(i, len(want)-1)] {
			t.Errorf("entry %d is %s, want %s", id, got, want[min(i, len(want)-1)])
		}
	}
}

// wantOrder checks which entries the handler was called for, in order.
func wantOrder(t testing.TB, h *recorder, want ...outbox.ID) {
	t.Helper()
	if got := h.order(); !slices.Equal(got, want) {
		t.Errorf("calls for %v, want %v", got, want)
	}
}

// logs returns a logger and a function that returns what it wrote.
func logs() (*slog.Logger, func() string) {
	var mu sync.Mutex
	var buf bytes.Buffer
	h := slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return buf.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(h), func() string {
		mu.Lock()
		defer mu.Unlock()
		return buf.String()
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// wrapped is a store whose sessions' calls can be replaced one by one.
type wrapped struct {
	relay.Store
	claim  func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error)
	settle func(ctx context.Context, next relay.Session, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error)
	renew  func(ctx context.Context, next relay.Session, ids []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error)
}

func (w *wrapped) Open(o relay.SessionOptions) relay.Session {
	s := w.Store.Open(o)
	return wrappedSession{s, s.(relay.TxSession), s.(relay.Registrar), w}
}

type wrappedSession struct {
	relay.Session
	relay.TxSession
	relay.Registrar
	w *wrapped
}

func (s wrappedSession) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if s.w.claim != nil {
		return s.w.claim(ctx, s.Session, req)
	}
	return s.Session.Claim(ctx, req)
}

func (s wrappedSession) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	if s.w.settle != nil {
		return s.w.settle(ctx, s.Session, outcomes, ended)
	}
	return s.Session.Settle(ctx, outcomes, ended)
}

func (s wrappedSession) Renew(ctx context.Context, ids []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error) {
	if s.w.renew != nil {
		return s.w.renew(ctx, s.Session, ids, d)
	}
	return s.Session.Renew(ctx, ids, d)
}

// reclaim takes back expired leases every so often, as maintenance does.
func reclaim(t testing.TB, s *memstore.Store, every time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(every):
				if _, err := s.Reclaim(context.Background(), 100, 100); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

func name(prefix string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s%d", prefix, i) }
}
