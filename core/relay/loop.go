package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/fault"
)

// loop is one run of a relay. All its fields belong to the goroutine that executes
// run; other goroutines reach it through the channels only.
type loop struct {
	relay   *Relay
	cfg     *Config
	plan    plan
	session Session
	worker  *worker

	deliveries context.Context // parent of every handler's context
	endAll     context.CancelFunc
	storeCalls context.Context           // parent of every call of the store
	stopping   atomic.Bool               // read by workers between the entries of a run
	outages    atomic.Int64              // number of breakers opened; read by workers between runs
	endsAt     atomic.Pointer[time.Time] // when a stopping loop ends at the latest
	calls      sync.WaitGroup            // claims, settlements, renewals, advertisements

	ready    []*job            // claimed, waiting for a slot
	busy     map[*job]struct{} // running
	stuck    map[*job]struct{} // gave up waiting for these; each keeps its slot
	suspect  *job              // waits until nothing else is under way
	clogged  bool              // entries went back for want of a slot, and none became free since
	leases   map[LeaseID]*lease
	inflight int // entries claimed and not handed to a settlement
	attempts int

	claims  claimState
	settle  settleState
	sleep   sleepState
	breaker *breakers
	quick   quickness

	renewing bool
	renewAt  time.Time
	watchAt  time.Time

	claimed  chan claimed
	ahead    chan int // numbers of claims that let another begin
	reports  chan *job
	settled  chan settled
	renewals chan renewed
	adverts  chan advertised
	gone     chan struct{}
}

func newLoop(r *Relay, p plan) *loop {
	l := &loop{
		relay: r, cfg: &r.cfg, plan: p,
		session:  r.store.Open(SessionOptions{Owner: r.cfg.Owner, OnPublished: r.cfg.OnPublished}),
		busy:     map[*job]struct{}{},
		stuck:    map[*job]struct{}{},
		leases:   map[LeaseID]*lease{},
		quick:    quickness{},
		claimed:  make(chan claimed, maxClaims),
		ahead:    make(chan int, maxClaims),
		reports:  make(chan *job, 256),
		settled:  make(chan settled, 1),
		renewals: make(chan renewed, 1),
		adverts:  make(chan advertised, 1),
		gone:     make(chan struct{}),
	}
	l.worker = &worker{cfg: l.cfg, session: l.session, stopping: l.stopping.Load, outages: l.outages.Load, reports: l.reports, gone: l.gone}
	return l
}

// run is the loop itself: do what can be done now, then wait for the first thing
// that happens.
func (l *loop) run(ctx context.Context) error {
	// Handlers and the store outlive ctx on purpose: what was begun is finished.
	base := context.WithoutCancel(ctx)
	l.deliveries, l.endAll = context.WithCancel(base)
	defer l.endAll()
	var endStore context.CancelFunc
	l.storeCalls, endStore = context.WithCancel(base)
	l.breaker = newBreakers(l.cfg, func(t target, s BreakerState) { l.breakerChanged(base, t, s) })
	defer func() {
		l.calls.Wait()
		l.tell(l.settle.pending) // of a store that hung until the very end
	}()
	defer endStore() // only calls that outlasted an orderly stop are still there
	defer close(l.gone)

	hints, unsubscribe := l.subscribe()
	defer unsubscribe()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		l.advance(base, now)
		if l.planned() {
			return errors.Join(l.claims.err, l.stop(base))
		}
		timer.Reset(max(0, l.nextTime(now).Sub(now)))
		select {
		case <-ctx.Done():
			err := l.stop(base)
			if !l.plan.forever() {
				err = errors.Join(ctx.Err(), err)
			}
			return err
		case c := <-l.claimed:
			l.onClaimed(base, c)
		case number := <-l.ahead:
			l.claims.open = number == l.claims.number
		case j := <-l.reports:
			l.onReport(j)
		case s := <-l.settled:
			l.onSettled(s)
		case r := <-l.renewals:
			l.onRenewed(base, r)
		case a := <-l.adverts:
			l.onAdvertised(base, a)
		case <-hints:
			l.onHint()
		case <-l.relay.wake:
			l.onHint()
		case <-timer.C:
		}
	}
}

// advance does everything whose time has come.
func (l *loop) advance(ctx context.Context, now time.Time) {
	l.expire(ctx, now)
	l.watch(ctx, now)
	l.dispatch(now)
	l.flush(now)
	l.renew(now)
	l.advertise(now)
	l.claim(now)
}

// nextTime returns when advance has something to do if nothing else happens.
func (l *loop) nextTime(now time.Time) time.Time {
	at := now.Add(time.Hour)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if len(l.busy) > 0 {
		sooner(l.watchAt)
	}
	for _, le := range l.leases {
		if !le.open() {
			continue
		}
		sooner(le.ends.Add(time.Millisecond))
		if !l.renewing {
			sooner(l.renewAt)
		}
	}
	if l.settle.waiting() && !l.settle.busy {
		sooner(l.settle.at)
	}
	if t, ok := l.claimTime(); ok {
		sooner(t)
	}
	if t, ok := l.advertiseTime(); ok {
		sooner(t)
	}
	return at
}

// idle reports whether nothing is under way.
func (l *loop) idle() bool {
	return l.claims.busy == 0 && l.inflight == 0 && len(l.busy) == 0 && !l.settle.waiting() && !l.settle.busy
}

// planned reports whether the loop has done what it was started for.
func (l *loop) planned() bool {
	switch {
	case l.plan.forever() || !l.idle():
		return false
	case l.claims.err != nil:
		return true
	case l.plan.limit > 0:
		return l.claims.made
	default:
		// The last claim found nothing, and nothing was settled since.
		return l.claims.dry > 0 && !l.claims.again
	}
}

// background runs f on a goroutine that ends before Run does.
func (l *loop) background(f func()) {
	l.calls.Add(1)
	go func() {
		defer l.calls.Done()
		f()
	}()
}

// storeContext bounds a call of the store. It is not cancelled by shutdown: a claim
// or a settlement in flight must come to its end.
func (l *loop) storeContext(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(l.storeCalls, limit)
}

// guard turns a panic of the store into an error.
func guard[T any](op string, call func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Persistence{Op: op, Err: fmt.Errorf("the store panicked with a %T", v)}
		}
	}()
	return call()
}
