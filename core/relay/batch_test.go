package relay_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// batcher is a recorder that takes several entries at once.
type batcher struct {
	*recorder
	waves [][]outbox.ID
}

func (b *batcher) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	var ids []outbox.ID
	seen := map[string]bool{}
	var at, nth []int
	for _, e := range batch {
		ids = append(ids, e.ID)
		if e.AggregateID != "" && seen[e.AggregateID] {
			b.t.Errorf("two entries of aggregate %s in one batch", e.AggregateID)
		}
		seen[e.AggregateID] = true
		i, n := b.begin(e)
		at, nth = append(at, i), append(nth, n)
	}
	b.mu.Lock()
	b.waves = append(b.waves, ids)
	b.mu.Unlock()
	var results []error
	for i, e := range batch {
		var err error
		if b.work != nil {
			err = b.work(ctx, e, nth[i])
		}
		results = append(results, err)
		b.end(at[i], e)
	}
	return results
}

// TestBatchesGoInWaves: first all heads, then the second entries, and a failure takes
// only its own run out.
func TestBatchesGoInWaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &batcher{recorder: handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 4 && nth == 1 {
				return errors.New("no")
			}
			return nil
		})}
		// Aggregates A0 to A2, three entries each, and one entry without.
		all := entries(9, func(i int) string { return fmt.Sprint("A", i%3) })
		ids := publish(t, s, append(all, entryOf(""))...)
		var seen attempts
		x := start(t, s, relay.Config{BackoffBase: time.Minute, Observers: []relay.Observer{&seen}}, h)
		time.Sleep(time.Second)
		if r := rows(s)[7]; r.State != outbox.Pending || r.Attempt != 0 || r.Claims != 0 {
			t.Errorf("the entry behind the failure is %s, attempt %d, claims %d", r.State, r.Attempt, r.Claims)
		}
		until(t, "the end", settled(s))
		x.end()
		want := [][]outbox.ID{{1, 2, 3, 10}, {4, 5, 6}, {8, 9}, {4}, {7}}
		for i, wave := range h.waves {
			slices.Sort(wave)
			if i >= len(want) || !slices.Equal(wave, want[i]) {
				t.Errorf("wave %d is %v", i, wave)
			}
		}
		wantStates(t, s, ids, outbox.Published)
		wantAggregatesInOrder(t, s, h.recorder)
		if len(seen.all()) != 11 {
			t.Errorf("observers were told of %d attempts, want 11", len(seen.all()))
		}
	})
}

// byValue is a batch handler whose values cannot be compared.
type byValue struct {
	*batcher
	_ []int
}

// badBatches fails all of a batch in one way.
type badBatches struct {
	*recorder
	how func(ctx context.Context, batch []delivery.Envelope) []error
}

func (b badBatches) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	return b.how(ctx, batch)
}

// TestFailingBatches: every entry of the batch has failed, none is lost.
func TestFailingBatches(t *testing.T) {
	t.Parallel()
	for kind, how := range map[string]func(context.Context, []delivery.Envelope) []error{
		"panic":    func(context.Context, []delivery.Envelope) []error { panic("no") },
		"nothing":  func(context.Context, []delivery.Envelope) []error { return nil },
		"too many": func(_ context.Context, b []delivery.Envelope) []error { return make([]error, len(b)+1) },
		"goexit":   func(context.Context, []delivery.Envelope) []error { runtime.Goexit(); return nil },
		"stuck":    func(context.Context, []delivery.Envelope) []error { time.Sleep(time.Minute); return nil },
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				all := entries(6, func(i int) string { return fmt.Sprint("A", i%3) })
				for i := range all {
					all[i].MaxAttempts = 1
				}
				ids := publish(t, s, all...)
				var seen attempts
				x := start(t, s, relay.Config{DeliveryTimeout: time.Second, Observers: []relay.Observer{&seen}}, badBatches{handler(t, nil), how})
				until(t, "the end", settled(s))
				time.Sleep(2 * time.Minute)
				x.end()
				wantStates(t, s, ids, outbox.DeadLetter)
				if len(seen.all()) != 6 {
					t.Errorf("observers were told of %d attempts", len(seen.all()))
				}
			})
		})
	}
}

// TestBatchOrderUnderDisorder is TestOrderUnderDisorder for batches, by a handler whose
// value cannot be compared.
func TestBatchOrderUnderDisorder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if (int(e.ID)+nth)%5 == 0 {
				return errors.New("no")
			}
			time.Sleep(time.Duration(e.ID%7) * time.Millisecond)
			return nil
		})
		cfg := relay.Config{BatchSize: 20, BackoffBase: 30 * time.Millisecond}
		publish(t, s, entries(200, func(i int) string { return fmt.Sprint("A", i*i%23) })...)
		x := start(t, s, cfg, byValue{batcher: &batcher{recorder: h}})
		y := start(t, s, cfg, byValue{batcher: &batcher{recorder: h}})
		until(t, "the end", settled(s))
		x.end()
		y.end()
		wantAggregatesInOrder(t, s, h)
	})
}
