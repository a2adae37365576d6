package relay

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/destination"
)

// target names one destination.
type target struct {
	Type destination.Type
	Name string
}

// breakers keeps the destinations that were found unavailable. An outage is not
// poison: while a destination is down nothing is claimed for it, so no entry loses
// attempts and no storm of calls hits it when it comes back. It belongs to the loop.
type breakers struct {
	delay, limit time.Duration
	open         map[target]*breaker
	changed      func(target, BreakerState)
}

type breaker struct {
	state    BreakerState
	failures int
	openedAt time.Time
	probeAt  time.Time
	probing  bool // a probe is claimed or being looked for
}

func newBreakers(cfg *Config, changed func(target, BreakerState)) *breakers {
	return &breakers{delay: cfg.ProbeDelay, limit: cfg.ProbeMax, open: map[target]*breaker{}, changed: changed}
}

// unavailable records that a destination could not be reached and returns how long
// to leave the entry alone.
func (b *breakers) unavailable(t target, now time.Time) time.Duration {
	br := b.open[t]
	if br == nil {
		br = &breaker{}
		b.open[t] = br
	} else if !br.probing {
		// One more entry of the batch that was in flight when the breaker opened.
		return max(time.Millisecond, br.probeAt.Sub(now))
	}
	br.failures++
	wait := Backoff(b.delay, b.limit, br.failures, rand.Float64())
	br.openedAt, br.probeAt, br.probing = now, now.Add(wait), false
	b.set(t, br, BreakerOpen)
	return wait
}

// set notes the state of a breaker and tells of a change.
func (b *breakers) set(t target, br *breaker, s BreakerState) {
	if br.state != s {
		br.state = s
		b.changed(t, s)
	}
}

// reachable records any other outcome of an attempt that began at a time: whatever it
// was, the destination answered. An attempt that began before the destination was found
// down says nothing of it: its answer may be older than its result.
func (b *breakers) reachable(t target, began time.Time) {
	if br := b.open[t]; br != nil && began.After(br.openedAt) {
		delete(b.open, t)
		b.changed(t, BreakerClosed)
	}
}

// targets returns the destinations that are down.
func (b *breakers) targets() []target {
	return slices.Collect(maps.Keys(b.open))
}

// due returns a destination whose time to be probed has come.
func (b *breakers) due(now time.Time) (target, bool) {
	for t, br := range b.open {
		if !br.probing && !now.Before(br.probeAt) {
			return t, true
		}
	}
	return target{}, false
}

// probe marks t as being probed.
func (b *breakers) probe(t target) {
	if br := b.open[t]; br != nil {
		br.probing = true
		b.set(t, br, BreakerHalfOpen)
	}
}

// inconclusive records that a probe came to its end without a word on whether the
// destination is back: another follows.
func (b *breakers) inconclusive(t target, now time.Time) {
	if br := b.open[t]; br != nil && br.probing {
		br.probing, br.probeAt = false, now.Add(b.delay)
		b.set(t, br, BreakerOpen)
	}
}

// none records that there was nothing to probe t with: without traffic there is
// nothing to protect, so the breaker closes.
func (b *breakers) none(t target, now time.Time) { b.reachable(t, now) }

// retryProbe records that the search for an entry has not reached its end.
func (b *breakers) retryProbe(t target, now time.Time) {
	if br := b.open[t]; br != nil {
		br.probing, br.probeAt = false, now
	}
}

// next returns the time of the earliest probe.
func (b *breakers) next() (at time.Time, ok bool) {
	for _, br := range b.open {
		if !br.probing && (!ok || br.probeAt.Before(at)) {
			at, ok = br.probeAt, true
		}
	}
	return at, ok
}

// endProbe is called for every entry that goes back without an answer of its destination.
func (l *loop) endProbe(e *entry) {
	if e.probe {
		l.breaker.inconclusive(e.target(), time.Now())
	}
}

// breakerChanged acts on a change and passes it on to the observers.
func (l *loop) breakerChanged(ctx context.Context, t target, s BreakerState) {
	l.cfg.Logger.WarnContext(ctx, "circuit breaker changed", "type", t.Type, "state", s)
	if len(l.cfg.Observers) > 0 {
		l.settle.changes = append(l.settle.changes, breakerChange{t, s})
	}
	switch s {
	case BreakerOpen:
		l.outages.Add(1)
		l.withdraw(func(e *entry) bool { return e.target() == t })
	case BreakerClosed:
		l.claimSoon(time.Now()) // what piled up need not wait for the next look
	}
}

// withdrawDown gives back what waits for a slot and would go to a destination that was
// found down after it was claimed, or while it shared a job with others. Probes stay.
func (l *loop) withdrawDown() {
	if len(l.breaker.open) > 0 {
		l.withdraw(func(e *entry) bool { return !e.probe && l.breaker.open[e.target()] != nil })
	}
}

// withdraw gives back what waits for a slot and would only occupy it to learn that its
// destination is down.
func (l *loop) withdraw(down func(head *entry) bool) {
	kept := l.ready[:0]
	for _, j := range l.ready {
		runs := j.runs[:0]
		for _, run := range j.runs {
			if down(run[0]) {
				l.giveBackRun(j.lease, run)
				continue
			}
			runs = append(runs, run)
		}
		if j.runs = runs; len(runs) > 0 {
			kept = append(kept, j)
			continue
		}
		j.lease.jobs--
		l.forget(j.lease)
	}
	clear(l.ready[len(kept):])
	l.ready = kept
}
