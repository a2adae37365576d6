package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/satchel-go/satchel/core/claim"
)

// claimState says when to claim next. It belongs to the loop.
type claimState struct {
	busy     int       // claims under way
	asked    int       // entries that these asked for
	number   int       // of the newest of them
	open     bool      // the newest lets another begin
	made     bool      // at least one claim was answered
	last     time.Time // when the last claim was answered
	due      time.Time // when the first entry known to wait is due, zero if none is known
	again    bool      // something happened that may have made entries claimable
	at       time.Time // not before this
	dry      int       // claims in a row that found nothing
	failures int       // claims in a row that failed
	err      error     // the last claim's error, for a relay that does not run on
	turn     int       // rotates the type that is served first
}

// claimed is the answer to a claim.
type claimed struct {
	request ClaimRequest
	probed  *target
	all     claim.Snapshot // what the handlers can deliver, before anything is left out
	batch   Batch
	began   time.Time
	ahead   bool          // asked for next, should nothing be claimed
	next    time.Duration // until the next entry becomes due, 0 if unknown
	err     error
}

const (
	// maxClaims is how many claims may be under way: one that decides what to take, and
	// one of which the entries are on their way here.
	maxClaims = 2
	// pace is the pause after a claim that found little: claims would otherwise chase
	// each single entry. It is multiplied by the number of relays that are awake.
	pace    = 3500 * time.Microsecond
	maxPace = 60 * time.Millisecond
	// firstDry is the pause after the first claim that found nothing; it doubles.
	firstDry = 3500 * time.Microsecond
	// failedPause is the pause after the first failed claim; it doubles up to maxFailedPause.
	failedPause    = 100 * time.Millisecond
	maxFailedPause = 5 * time.Second
)

// free returns how many entries may be claimed now.
func (l *loop) free() int {
	slots := l.cfg.Concurrency - len(l.stuck)
	if slots <= 0 || l.suspect != nil {
		return 0 // nobody could deliver them, or somebody must be alone
	}
	prefetch := l.cfg.Prefetch
	if l.clogged {
		prefetch = 0
	}
	held := l.inflight + l.claims.asked + len(l.settle.pending) + l.settle.size
	n := min(l.cfg.BatchSize, slots+prefetch-held)
	least := min(l.cfg.BatchSize, prefetch) / 2
	if l.claims.busy > 0 {
		least = l.cfg.BatchSize / 2
	}
	if n < max(1, least) && held > 0 {
		return 0 // wait until a claim is worth its while
	}
	return max(0, n)
}

// claimTime returns when the next claim is to be made, if slots allow one.
func (l *loop) claimTime() (time.Time, bool) {
	if !l.mayClaim() || l.free() == 0 {
		return time.Time{}, false
	}
	at := l.claims.at
	if t, ok := l.breaker.next(); ok && l.claims.busy == 0 && t.Before(at) {
		at = t
	}
	return at, true
}

// mayClaim reports whether another claim may begin, time and room aside.
func (l *loop) mayClaim() bool {
	st := &l.claims
	switch {
	case l.stopping.Load():
		return false
	case l.plan.limit > 0:
		return !st.made && st.busy == 0
	default:
		// A destination that is down is probed by a claim of its own.
		_, down := l.breaker.next()
		return st.busy == 0 || st.open && st.busy < maxClaims && st.failures == 0 && !down
	}
}

// claim starts a claim if it is time.
func (l *loop) claim(now time.Time) {
	at, ok := l.claimTime()
	if !ok || now.Before(at) {
		return
	}
	limit := l.free()
	if l.plan.limit > 0 {
		limit = l.plan.limit // asked for by the caller, whatever the batch size is
	}
	// A relay about to wait for long wants to wake exactly when something becomes due.
	ahead := l.cfg.Strategy == ListenNotify && l.claims.dry >= dryLooks
	c := claimed{began: now, ahead: ahead, request: ClaimRequest{
		Limit: limit, RunLength: min(l.cfg.RunLength, limit), Lease: l.cfg.LeaseTimeout,
	}}
	if t, ok := l.breaker.due(now); ok && l.claims.busy == 0 {
		c.probed = &t
		c.request.Limit, c.request.RunLength, c.request.Probe = 1, 1, true
		l.breaker.probe(t)
	}
	l.claims.busy, l.claims.open, l.claims.again = l.claims.busy+1, false, false
	l.claims.asked += c.request.Limit
	l.claims.number++
	if number := l.claims.number; c.probed == nil && l.plan.limit == 0 {
		c.request.Ahead = func() {
			select {
			case l.ahead <- number:
			default: // the loop has other things to do first
			}
		}
	}
	if !l.claims.due.After(now) {
		l.claims.due = time.Time{}
	}
	turn := l.claims.turn
	l.claims.turn++
	down := l.breaker.targets()
	l.background(func() {
		c.err = errGoexit // unless the call returns: a supplier can end this goroutine
		defer func() { l.claimed <- c }()
		c.batch, c.err = guard("relay.claim", func() (Batch, error) { return l.ask(&c, turn, down) })
	})
}

// ask resolves the scopes and makes the claim. It runs beside the loop, since
// suppliers are the application's code.
func (l *loop) ask(c *claimed, turn int, down []target) (Batch, error) {
	scope, err := claim.Resolve(l.relay.handlers.Capabilities())
	if err != nil {
		return Batch{}, err
	}
	c.all = scope
	if c.probed != nil {
		scope = scope.Exactly(c.probed.Type, c.probed.Name)
	} else {
		for _, t := range down {
			scope = scope.Without(t.Type, t.Name)
		}
	}
	c.request.Scope = scope
	if scope.Empty() {
		return Batch{}, nil
	}
	types := scope.Types()
	c.request.First = types[turn%len(types)].Type
	ctx, cancel := l.storeContext(l.cfg.StoreTimeout)
	defer cancel()
	batch, err := l.session.Claim(ctx, c.request)
	if err == nil && c.ahead && len(batch.Records) == 0 && !batch.More {
		if wait, ok, err := l.session.NextDue(ctx, scope); err == nil && ok {
			c.next = max(wait, time.Millisecond)
		}
	}
	return batch, err
}

// onClaimed takes the answer to a claim in and decides when to make the next.
func (l *loop) onClaimed(ctx context.Context, c claimed) {
	st := &l.claims
	st.busy, st.made, st.err = st.busy-1, true, c.err
	st.asked -= c.request.Limit
	now := time.Now()
	st.last, l.sleep.scope = now, c.all
	if c.err != nil {
		st.failures++
		pause := Backoff(failedPause, maxFailedPause, st.failures, rand.Float64())
		var scope *claim.Error
		if errors.As(c.err, &scope) {
			pause = max(pause, l.cfg.PollingInterval)
		}
		l.cfg.Logger.WarnContext(ctx, "claim failed", "error", c.err, "pause", pause)
		st.at = now.Add(pause)
		if c.probed != nil {
			l.breaker.unavailable(*c.probed, now)
		}
		return
	}
	st.failures = 0
	n := l.accept(ctx, c)
	if c.probed != nil {
		if n == 0 && !c.batch.More {
			l.breaker.none(*c.probed, now)
		} else if n == 0 {
			l.breaker.retryProbe(*c.probed, now)
		}
		st.at, st.again = now, true // an ordinary claim follows
		return
	}
	more := c.batch.More && (n > 0 || len(c.batch.Records) == 0) // a store that is wrong can wait
	switch {
	case more || n*4 >= c.request.Limit && n > 0:
		st.dry, st.at = 0, now
	case n > 0:
		st.dry, st.at = 0, now.Add(l.pace())
	case st.again:
		st.dry++
		st.at = now.Add(l.pace())
	default:
		st.dry++
		st.at = now.Add(l.dryPause(st.dry))
		if c.next > 0 {
			l.claimAt(now.Add(c.next))
		}
		l.claimAt(st.due)
	}
	l.sleep.woken(n > 0)
}

// pace returns the pause after a claim that found little.
func (l *loop) pace() time.Duration {
	return min(maxPace, pace*time.Duration(max(1, l.sleep.alive)))
}

// claimSoon asks for a claim because something may have become claimable.
func (l *loop) claimSoon(now time.Time) {
	l.claims.again = true
	if at := now.Add(l.pace()); l.claims.busy == 0 && l.claims.failures == 0 && at.Before(l.claims.at) {
		l.claims.at = at
	}
}

// claimAt asks for a claim at a time when an entry is known to become due.
func (l *loop) claimAt(due time.Time) {
	st := &l.claims
	if due.IsZero() || l.cfg.Strategy != ListenNotify {
		return
	}
	if st.due.IsZero() || due.Before(st.due) {
		st.due = due
	}
	if st.busy == 0 && st.failures == 0 && st.due.Before(st.at) {
		st.at = st.due
	}
}
