package relay_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

func TestBackoffTable(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		base, limit time.Duration
		failed      int
		random      float64
		want        time.Duration
	}{
		{time.Second, time.Minute, 1, 0, time.Second},
		{time.Second, time.Minute, 2, 0, 2 * time.Second},
		{time.Second, time.Minute, 6, 0, 32 * time.Second},
		{time.Second, time.Minute, 7, 0, time.Minute},
		{time.Second, time.Minute, 1, 0.5, 875 * time.Millisecond},
		{time.Second, time.Minute, math.MaxInt32, 0, time.Minute},
		{time.Second, time.Minute, math.MaxInt, 0, time.Minute},
		{time.Second, time.Minute, 0, 0, time.Second},
		{time.Second, time.Minute, -5, 0, time.Second},
		{time.Second, math.MaxInt64, 64, 0, math.MaxInt64},
		{1, math.MaxInt64, 63, 0, 1 << 62},
		{1, math.MaxInt64, 64, 0, math.MaxInt64},
		{300 * time.Hour, math.MaxInt64, 1000, 0, math.MaxInt64},
		{300 * time.Hour, year, 1, 0, 300 * time.Hour},
		{time.Hour, time.Minute, 1, 0, time.Minute}, // a limit below the base
		{0, 0, 1, 0, 1},
		{-time.Second, -time.Second, 3, 0.9, 1},
		{1, 1, 20, 0.999, 1},
	} {
		if got := relay.Backoff(c.base, c.limit, c.failed, c.random); got != c.want {
			t.Errorf("Backoff(%v, %v, %d, %v) = %v, want %v", c.base, c.limit, c.failed, c.random, got, c.want)
		}
	}
}

// TestBackoffProperties: always within its bounds, never shrinking with more failures
// below the limit, and at least three quarters of the undisturbed delay.
func TestBackoffProperties(t *testing.T) {
	t.Parallel()
	property := func(base, limit int64, failed uint16, seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 0))
		b, l := time.Duration(base&math.MaxInt64), time.Duration(limit&math.MaxInt64)
		n, r := int(failed%80)+1, random.Float64()
		got, plain := relay.Backoff(b, l, n, r), relay.Backoff(b, l, n, 0)
		next := relay.Backoff(b, l, n+1, r)
		return got > 0 && got <= max(l, 1) && got <= plain && float64(got) >= 0.74*float64(plain)-1 && next >= got
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

// TestRetryTimes through the relay: the delay counts from the failure, doubles, and no
// call comes before it is over, nor long after.
func TestRetryTimes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			time.Sleep(2 * time.Second)
			if nth < 7 {
				return errors.New("no")
			}
			return nil
		})
		id := publish(t, s, entryOf(""))[0]
		x := start(t, s, relay.Config{BackoffBase: time.Second, BackoffMax: 10 * time.Second, PollingInterval: time.Hour}, h)
		until(t, "the end", settled(s))
		x.end()
		calls := h.of(id)
		for i, c := range calls[1:] {
			want := min(time.Second<<i, 10*time.Second)
			if got := c.Start.Sub(calls[i].End); got < want*3/4 || got > want+10*time.Millisecond {
				t.Errorf("retry %d came %v after the failure, want up to %v", i+1, got, want)
			}
		}
	})
}

// TestRetryAfter: the longer of both waits counts, within an hour.
func TestRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		asked := []time.Duration{0, time.Minute, 48 * time.Hour, -time.Hour}
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			if nth <= len(asked) {
				return delivery.RetryAfter(errors.New("busy"), asked[nth-1])
			}
			return nil
		})
		id := publish(t, s, entryOf(""))[0]
		x := start(t, s, relay.Config{BackoffBase: time.Second, BackoffMax: 4 * time.Second}, h)
		time.Sleep(2 * time.Hour)
		x.end()
		calls := h.of(id)
		if len(calls) != 5 {
			t.Fatalf("%d calls", len(calls))
		}
		for i, want := range []time.Duration{time.Second, time.Minute, time.Hour, 4 * time.Second} {
			if got := calls[i+1].Start.Sub(calls[i].End); got < want*3/4 || got > want+time.Second {
				t.Errorf("the wait after asking for %v was %v", asked[i], got)
			}
		}
	})
}

// TestUnresolvableDelay: no attempt is charged, however often.
func TestUnresolvableDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			if nth < 30 {
				return delivery.Unresolvable(errors.New("who?"))
			}
			return nil
		})
		one := entryOf("")
		one.MaxAttempts = 1
		id := publish(t, s, one)[0]
		x := start(t, s, relay.Config{UnresolvableDelay: 8 * time.Second}, h)
		until(t, "the end", settled(s))
		x.end()
		calls := h.of(id)
		for i, c := range calls[1:] {
			if wait := c.Start.Sub(calls[i].Start); wait < 6*time.Second || wait > 9*time.Second {
				t.Errorf("call %d came after %v", i+1, wait)
			}
		}
		wantStates(t, s, []outbox.ID{id}, outbox.Published)
	})
}

// TestMaxAttempts: exactly that many calls, then the dead letter. A row that is beyond
// its limit already gets one.
func TestMaxAttempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { return errors.New("no") })
		for limit, want := range map[int]int{1: 1, 2: 2, 3: 3, 0: 1, -1: 1} {
			id := insert(t, s, outbox.Record{DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: limit, AggregateID: name("A")(limit)})
			behind := insert(t, s, outbox.Record{DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: 1, AggregateID: name("A")(limit)})
			x := start(t, s, relay.Config{}, h)
			until(t, "the end", settled(s))
			x.end()
			if r := rows(s)[id]; len(h.of(id)) != want || r.State != outbox.DeadLetter || r.Attempt != want {
				t.Errorf("limit %d: %d calls, %s, attempt %d", limit, len(h.of(id)), r.State, r.Attempt)
			}
			if len(h.of(behind)) != 1 {
				t.Errorf("limit %d: %d calls for the entry behind", limit, len(h.of(behind)))
			}
		}
	})
}

// TestRetriesAreSpread: entries that fail together do not come back together, and none
// before its backoff is over.
func TestRetriesAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(context.Context, delivery.Envelope, int) error { return errors.New("no") })
		publish(t, s, entries(1000, unordered)...)
		x := start(t, s, relay.Config{BackoffBase: 8 * time.Second, BackoffMax: time.Hour}, h)
		time.Sleep(time.Second)
		buckets := map[time.Duration]int{}
		for _, r := range s.Rows() {
			buckets[time.Until(r.AvailableAt)/(100*time.Millisecond)]++
		}
		for at, n := range buckets {
			if n > 150 {
				t.Errorf("%d of 1000 entries come back within the same 100 ms (bucket %d)", n, at)
			}
		}
		time.Sleep(30 * time.Second)
		x.end()
		first := map[outbox.ID][]call{}
		for _, c := range h.seen() {
			calls := append(first[c.ID], c)
			first[c.ID] = calls
			if n := len(calls); n > 1 && c.Start.Sub(calls[n-2].End) < (8*time.Second<<(n-2))*3/4 {
				t.Errorf("entry %d was called %v after its failure %d", c.ID, c.Start.Sub(calls[n-2].End), n-1)
			}
			if len(calls) > 3 {
				t.Errorf("entry %d was called %d times in 31 s", c.ID, len(calls))
			}
		}
	})
}

// TestFailuresDoNotCrowdOutNewWork: a backlog that keeps failing, and then good entries.
func TestFailuresDoNotCrowdOutNewWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error {
			if e.ID <= 200 {
				return errors.New("no")
			}
			return nil
		})
		publish(t, s, entries(200, name("bad"))...)
		x := start(t, s, relay.Config{BatchSize: 10, BackoffBase: 200 * time.Millisecond, BackoffMax: 200 * time.Millisecond}, h)
		time.Sleep(time.Second)
		good := publish(t, s, entries(20, name("good"))...)
		began := time.Now()
		until(t, "the good ones", func() bool { return count(s, outbox.Published) == len(good) })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the good ones took %v", took)
		}
		x.end()
	})
}
