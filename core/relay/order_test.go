package relay_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// same puts all entries into one aggregate.
func same(aggregate string) func(int) string { return func(int) string { return aggregate } }

// TestRunStopsAtTheFirstFailure: those behind it go back untouched, and the retry comes
// before them.
func TestRunStopsAtTheFirstFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 2 && nth <= 2 {
				return errors.New("no")
			}
			return nil
		})
		ids := publish(t, s, entries(5, same("A"))...)
		due := rows(s)[3].AvailableAt
		x := start(t, s, relay.Config{BackoffBase: time.Minute}, h)
		time.Sleep(time.Second)
		wantStates(t, s, ids, outbox.Published, outbox.Pending)
		for _, id := range ids[2:] {
			if r := rows(s)[id]; r.Attempt != 0 || r.Claims != 0 || !r.AvailableAt.Equal(due) || r.LastError != "" {
				t.Errorf("entry %d behind the failure was touched: %+v", id, r)
			}
		}
		until(t, "the end", settled(s))
		x.end()
		wantOrder(t, h, 1, 2, 2, 2, 3, 4, 5)
	})
}

// TestRetryBeforeFollowers with two relays that compete.
func TestRetryBeforeFollowers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			time.Sleep(10 * time.Millisecond)
			if e.ID == 1 && nth <= 2 {
				return errors.New("no")
			}
			return nil
		})
		publish(t, s, entries(3, same("A"))...)
		cfg := relay.Config{BackoffBase: 500 * time.Millisecond}
		x, y := start(t, s, cfg, h), start(t, s, cfg, h)
		until(t, "the end", settled(s))
		x.end()
		y.end()
		wantOrder(t, h, 1, 1, 1, 2, 3)
	})
}

// TestDeadLetterLetsTheNextGo whether it was permanent or ran out of attempts, and also
// for entries that are published later.
func TestDeadLetterLetsTheNextGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			switch e.ID {
			case 1:
				return delivery.Permanent(errors.New("no"))
			case 2:
				return errors.New("no")
			}
			return nil
		})
		all := entries(3, same("A"))
		all[1].MaxAttempts = 2
		ids := publish(t, s, all...)
		x := start(t, s, relay.Config{}, h)
		until(t, "the end", settled(s))
		ids = append(ids, publish(t, s, entryOf("A"))...)
		until(t, "the late one", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.DeadLetter, outbox.DeadLetter, outbox.Published, outbox.Published)
		wantOrder(t, h, 1, 2, 2, 3, 4)
	})
}

// TestWaitingHeadHoldsItsAggregate: scheduled later, unresolvable, or of a type that is
// served elsewhere: the younger ones wait, those of other aggregates do not.
func TestWaitingHeadHoldsItsAggregate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.EventType == "unknown" && nth == 1 {
				return delivery.Unresolvable(errors.New("no"))
			}
			return nil
		})
		scheduled, unknown, foreign := entryOf("S"), entryOf("U"), entryOf("F")
		scheduled.ScheduledAt = time.Now().Add(time.Minute)
		unknown.EventType = "unknown"
		foreign.DestinationType = "OTHER"
		ids := publish(t, s, scheduled, unknown, foreign, entryOf("S"), entryOf("U"), entryOf("F"), entryOf("free"))
		x := start(t, s, relay.Config{UnresolvableDelay: time.Minute}, h)
		time.Sleep(10 * time.Second)
		wantStates(t, s, ids, outbox.Pending, outbox.Pending, outbox.Pending, outbox.Pending, outbox.Pending, outbox.Pending, outbox.Published)
		time.Sleep(2 * time.Minute)
		x.end()
		wantStates(t, s, ids, outbox.Published, outbox.Published, outbox.Pending, outbox.Published, outbox.Published, outbox.Pending, outbox.Published)
	})
}

// TestMixedTypesInOneAggregate keep their order across handlers.
func TestMixedTypesInOneAggregate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(time.Millisecond); return nil })
		all := entries(12, same("A"))
		var order []outbox.ID
		other := &otherType{h}
		for i := range all {
			if i%3 != 0 {
				all[i].DestinationType = "OTHER"
			}
		}
		order = publish(t, s, all...)
		x := start(t, s, relay.Config{PollingInterval: time.Minute}, h, other)
		began := time.Now()
		until(t, "the end", settled(s))
		if took := time.Since(began); took > time.Second {
			t.Errorf("a change of handlers waited for the next look: %v", took)
		}
		x.end()
		wantOrder(t, h, order...)
	})
}

// otherType is a second type that records into the same recorder.
type otherType struct{ *recorder }

func (*otherType) Type() destination.Type { return "OTHER" }

// TestOrderUnderDisorder lets three relays with all kinds of failures compete, and checks
// the order of every aggregate.
func TestOrderUnderDisorder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				h := handler(t, nil)
				random, aggregates := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
				h.work = func(_ context.Context, e delivery.Envelope, nth int) error {
					h.mu.Lock()
					dice, pause := random.IntN(10), time.Duration(random.IntN(30))*time.Millisecond
					h.mu.Unlock()
					time.Sleep(pause)
					switch {
					case dice == 0:
						return errors.New("no")
					case dice == 1:
						panic("no")
					case dice == 2 && nth < 3:
						return delivery.Unresolvable(errors.New("no"))
					case dice == 3 && e.ID%17 == 0:
						return delivery.Permanent(errors.New("no"))
					}
					return nil
				}
				var xs []*running
				for i := range 3 {
					xs = append(xs, start(t, s, relay.Config{
						BatchSize: 7, RunLength: 1 + 3*i, Concurrency: 4, Prefetch: 5, Waker: s.Waker(),
						BackoffBase: 50 * time.Millisecond, UnresolvableDelay: 20 * time.Millisecond,
					}, h))
				}
				for range 10 {
					publish(t, s, entries(30, func(int) string { return fmt.Sprint("A", aggregates.IntN(12)) })...)
					time.Sleep(50 * time.Millisecond)
				}
				until(t, "the end", settled(s))
				for _, x := range xs {
					x.end()
				}
				wantAggregatesInOrder(t, s, h)
			})
		})
	}
}

// wantAggregatesInOrder checks that calls of one aggregate neither overlap nor go back.
func wantAggregatesInOrder(t testing.TB, s *memstore.Store, h *recorder) {
	t.Helper()
	last := map[string]call{}
	for _, c := range h.seen() {
		if c.Aggregate == "" {
			continue
		}
		if before, ok := last[c.Aggregate]; ok && (c.ID < before.ID || c.Start.Before(before.End)) {
			t.Errorf("aggregate %s: entry %d after entry %d, or overlapping it", c.Aggregate, c.ID, before.ID)
		}
		last[c.Aggregate] = c
	}
	called := map[outbox.ID]bool{}
	for _, id := range h.order() {
		called[id] = true
	}
	for id := range rows(s) {
		if !called[id] {
			t.Errorf("entry %d was never delivered", id)
		}
	}
}
