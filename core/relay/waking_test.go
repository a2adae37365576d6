package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestHints: a commit is found at once by a sleeping relay, through the waker and through
// Wake, and a burst of hints without entries does no harm.
func TestHints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		for _, byWaker := range []bool{true, false} {
			cfg := relay.Config{PollingInterval: time.Hour}
			if byWaker {
				cfg.Waker = s.Waker()
			}
			w := &watched{Store: s}
			h := handler(t, nil)
			x := start(t, w, cfg, h)
			time.Sleep(time.Minute)
			at := time.Now()
			id := publish(t, s, entryOf(""))[0]
			if !byWaker {
				time.Sleep(10 * time.Second)
				if len(h.seen()) != 0 {
					t.Error("without a hint the entry was found before the poll")
				}
				at = time.Now()
				x.Wake()
				x.Wake() // hints coalesce
			}
			time.Sleep(time.Second)
			if calls := h.of(id); len(calls) != 1 || calls[0].Start.Sub(at) > time.Millisecond {
				t.Errorf("waker %v: the calls after a hint at %v are %+v", byWaker, at, calls)
			}
			before, _ := w.seen()
			for range 1000 {
				x.Wake()
				time.Sleep(time.Millisecond)
			}
			if after, _ := w.seen(); len(after)-len(before) > 300 {
				t.Errorf("1000 hints made %d claims", len(after)-len(before))
			}
			x.end()
		}
	})
}

// TestExactWakes: with a polling interval of an hour, everything that becomes due is
// delivered within milliseconds.
func TestExactWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			switch {
			case e.ID == 3 && nth == 1:
				time.Sleep(3 * time.Second) // longer than it takes to fall asleep
				return delivery.RetryAfter(nil, 20*time.Second)
			case e.ID == 4 && nth == 1:
				return delivery.Unresolvable(nil)
			}
			return nil
		})
		began := time.Now()
		all := entries(4, unordered)
		all[0].ScheduledAt = began.Add(time.Minute)
		all[1].ScheduledAt = began.Add(time.Minute + time.Second)
		publish(t, s, all...)
		x := start(t, s, relay.Config{PollingInterval: time.Hour, UnresolvableDelay: 10 * time.Second}, h)
		time.Sleep(2 * time.Minute)
		x.end()
		for id, want := range map[outbox.ID]time.Duration{1: time.Minute, 2: 61 * time.Second, 3: 23 * time.Second, 4: 10 * time.Second} {
			calls := h.of(id)
			if len(calls) == 0 {
				t.Fatalf("entry %d was not delivered", id)
			}
			got := calls[len(calls)-1].Start.Sub(began)
			if low := want; got > want+20*time.Millisecond || id != 4 && got < low || id == 4 && got < 7*time.Second {
				t.Errorf("entry %d was delivered after %v, want %v", id, got, want)
			}
		}
	})
}

// TestSuccessorGoesAtOnce although the claim took only its head.
func TestSuccessorGoesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, strategy := range []relay.Strategy{relay.ListenNotify, relay.Polling} {
			s := memstore.New(memstore.Config{})
			h := handler(t, func(context.Context, delivery.Envelope, int) error { time.Sleep(2 * time.Second); return nil })
			publish(t, s, entries(10, same("A"))...)
			x := start(t, s, relay.Config{Strategy: strategy, RunLength: 1, PollingInterval: 30 * time.Second}, h)
			began := time.Now()
			until(t, "the end", settled(s))
			x.end()
			if took := h.seen()[9].End.Sub(began); took > 20*time.Second+500*time.Millisecond {
				t.Errorf("%s: ten entries of 2 s one after another took %v", strategy, took)
			}
		}
	})
}

// TestBacklogFollowsAtOnce: one batch per polling interval would take minutes.
func TestBacklogFollowsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		publish(t, s, entries(1000, name("A"))...)
		publish(t, s, entries(100, same("B"))...)
		x := start(t, s, relay.Config{BatchSize: 10, Strategy: relay.Polling}, handler(t, nil))
		began := time.Now()
		until(t, "the end", settled(s))
		if took := time.Since(began); took > time.Second {
			t.Errorf("1100 entries took %v", took)
		}
		x.end()
	})
}

// TestHintDuringAClaim: the claim may have passed the entry already, so another follows.
func TestHintDuringAClaim(t *testing.T) {
	t.Parallel()
	for _, strategy := range []relay.Strategy{relay.ListenNotify, relay.Polling} {
		t.Run(string(strategy), func(t *testing.T) { bubble(t, func(t *testing.T) { hintDuringAClaim(t, strategy) }) })
	}
}

func hintDuringAClaim(t *testing.T, strategy relay.Strategy) {
	s := memstore.New(memstore.Config{})
	began := time.Now()
	w := &wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
		batch, err := next.Claim(ctx, req)
		if time.Since(began) > 59*time.Second && len(batch.Records) == 0 {
			time.Sleep(time.Second) // the answer is long under way
		}
		return batch, err
	}}
	h := handler(t, nil)
	x := start(t, w, relay.Config{Strategy: strategy, PollingInterval: time.Hour}, h)
	time.Sleep(time.Minute)
	x.Wake()
	time.Sleep(500 * time.Millisecond)
	publish(t, s, entryOf(""))
	x.Wake()
	time.Sleep(time.Second)
	if len(h.seen()) != 1 {
		t.Error("the hint was lost")
	}
	x.end()
}
