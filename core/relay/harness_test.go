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

	"github.com/satchel-go/satchel/core/delivery"
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
