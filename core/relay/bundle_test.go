package relay_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// warm delivers enough for the relay to know that the handler is quick, so that the
// runs after it share jobs.
func warm(t *testing.T, s *memstore.Store) {
	t.Helper()
	publish(t, s, entries(50, unordered)...)
	until(t, "the quick entries", settled(s))
}

// TestSlowEntryOfABundle: when one entry of a bundle takes long, the others are delivered
// beside it.
func TestSlowEntryOfABundle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.AggregateID == "slow" {
				time.Sleep(10 * time.Second)
			}
			return nil
		})
		x := start(t, s, relay.Config{}, h)
		warm(t, s)
		ids := publish(t, s, append(entries(1, func(int) string { return "slow" }), entries(30, unordered)...)...)
		time.Sleep(2 * time.Second)
		wantStates(t, s, ids[1:], outbox.Published)
		wantStates(t, s, ids[:1], outbox.Processing)
		until(t, "the slow one", settled(s))
		x.end()
	})
}

// TestFailureInABundle: an attempt that fails, in whatever way, costs its own entry an
// attempt and the rest of the bundle nothing.
func TestFailureInABundle(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error":  func() error { return errors.New("no") },
		"panic":  func() error { panic("no") },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
					if e.AggregateID == "bad" {
						return fail()
					}
					return nil
				})
				x := start(t, s, relay.Config{BackoffBase: time.Hour, BackoffMax: time.Hour}, h)
				warm(t, s)
				ids := publish(t, s, append(entries(1, func(int) string { return "bad" }), entries(30, unordered)...)...)
				time.Sleep(time.Second)
				wantStates(t, s, ids[1:], outbox.Published)
				wantStates(t, s, ids[:1], outbox.Pending)
				if r := rows(s)[ids[0]]; r.Attempt != 1 {
					t.Errorf("%d attempts charged, want 1", r.Attempt)
				}
				for _, id := range ids[1:] {
					if r := rows(s)[id]; r.Attempt != 0 {
						t.Errorf("entry %d was charged %d attempts", id, r.Attempt)
					}
				}
				x.end()
			})
		})
	}
}

// TestStopInABundle: what a bundle has not begun when the relay stops goes back at once.
func TestStopInABundle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(ctx context.Context, e delivery.Envelope, _ int) error {
			if e.AggregateID != "" {
				time.Sleep(time.Millisecond)
			}
			return nil
		})
		x := start(t, s, relay.Config{Concurrency: 1}, h)
		warm(t, s)
		ids := publish(t, s, entries(30, func(i int) string { return string(rune('a' + i)) })...)
		time.Sleep(8 * time.Millisecond)
		x.end()
		pending := 0
		for _, id := range ids {
			switch r := rows(s)[id]; r.State {
			case outbox.Pending:
				pending++
				if r.Attempt != 0 || r.Claims != 0 {
					t.Errorf("entry %d went back with %d attempts and %d claims", id, r.Attempt, r.Claims)
				}
			case outbox.Processing:
				t.Errorf("entry %d is still held", id)
			}
		}
		if pending == 0 {
			t.Error("everything was delivered before the stop: the test shows nothing")
		}
	})
}
