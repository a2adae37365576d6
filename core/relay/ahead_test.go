package relay_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// slowAnswers is a store that decides at once what a claim takes, says so, and answers
// later. It counts the claims under way and the entries that they may bring.
type slowAnswers struct {
	wrapped
	now, most   atomic.Int64
	asked, held atomic.Int64
	fail        func(nth int64) bool // after it called Ahead; may be nil
	claims      atomic.Int64
}

func answerSlowly(s relay.Store) *slowAnswers {
	w := &slowAnswers{}
	w.wrapped = wrapped{Store: s, claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
		nth := w.claims.Add(1)
		w.most.Store(max(w.most.Load(), w.now.Add(1)))
		w.held.Store(max(w.held.Load(), w.asked.Add(int64(req.Limit))))
		defer func() { w.now.Add(-1); w.asked.Add(-int64(req.Limit)) }()
		if w.fail != nil && w.fail(nth) {
			req.Ahead()
			time.Sleep(10 * time.Millisecond)
			return relay.Batch{}, errors.New("no answer")
		}
		b, err := next.Claim(ctx, req)
		if len(b.Records) == req.Limit && req.Ahead != nil {
			req.Ahead()
		}
		time.Sleep(10 * time.Millisecond)
		return b, err
	}}
	return w
}

// TestClaimsOverlap: a claim begins while the entries of the one before it are on their
// way, two at the most, and never more than there is room for.
func TestClaimsOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		prefetch   int
		most, held int64
	}{
		"much room":   {prefetch: 40, most: 2, held: 20},
		"little room": {prefetch: 1, most: 2, held: 11},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				w := answerSlowly(s)
				ids := publish(t, s, entries(200, few)...)
				x := start(t, w, relay.Config{BatchSize: 10, Prefetch: c.prefetch}, handler(t, nil))
				until(t, "the end", settled(s))
				x.end()
				wantStates(t, s, ids, outbox.Published)
				if most, held := w.most.Load(), w.held.Load(); most != c.most || held > c.held {
					t.Errorf("%d claims at once for %d entries, want %d for at most %d", most, held, c.most, c.held)
				}
			})
		})
	}
}

// few names twenty aggregates.
func few(i int) string { return name("a")(i % 20) }

// TestClaimAheadOfAFailure: what a claim that failed had been about to take is claimed
// by a later one.
func TestClaimAheadOfAFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := answerSlowly(s)
		w.fail = func(nth int64) bool { return nth%5 == 2 }
		ids := publish(t, s, entries(200, few)...)
		x := start(t, w, relay.Config{BatchSize: 10, Prefetch: 40}, handler(t, nil))
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
	})
}

// TestSingleClaimIsAlone: RunOnce makes one claim, whatever the store says.
func TestSingleClaimIsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := answerSlowly(s)
		publish(t, s, entries(50, unordered)...)
		n, err := newRelay(t, w, relay.Config{BatchSize: 10, Prefetch: 40}, handler(t, nil)).RunOnce(t.Context(), 10)
		if err != nil || n != 10 || w.claims.Load() != 1 {
			t.Errorf("%d entries in %d claims, %v", n, w.claims.Load(), err)
		}
	})
}

// TestStoppedWhileTwoClaimsAreUnderWay: both answers are taken in, and go back.
func TestStoppedWhileTwoClaimsAreUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := answerSlowly(s)
		ids := publish(t, s, entries(100, unordered)...)
		x := start(t, w, relay.Config{BatchSize: 10, Prefetch: 40}, handler(t, nil))
		until(t, "two claims", func() bool { return w.now.Load() == 2 })
		x.end()
		for _, id := range ids {
			if r := rows(s)[id]; r.State == outbox.Processing {
				t.Errorf("entry %d is left %s", id, r.State)
			}
		}
	})
}

// TestProbeIsNotStarved: while claims follow each other without a gap, a destination
// that is down is probed all the same.
func TestProbeIsNotStarved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		w := answerSlowly(s)
		var calls atomic.Int64
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.Destination == "down" && calls.Add(1) < 3 {
				return delivery.Unavailable(errors.New("nobody is there"))
			}
			return nil
		})
		down := entryOf("")
		down.Destination = "down"
		id := publish(t, s, down)
		publish(t, s, entries(3000, unordered)...)
		x := start(t, w, relay.Config{BatchSize: 10, Prefetch: 40, ProbeDelay: 100 * time.Millisecond}, h)
		began := time.Now()
		until(t, "the probe", func() bool { return rows(s)[id[0]].State == outbox.Published })
		if count(s, outbox.Pending) == 0 {
			t.Errorf("only after everything else, after %v", time.Since(began))
		}
		x.end()
	})
}
