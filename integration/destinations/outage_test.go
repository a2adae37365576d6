package destinations

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// outage is a destination that goes down under load and comes back, beside another that stays.
type outage struct {
	pool *pgxpool.Pool
	// victim and bystander return the n-th entry of each kind.
	victim, bystander func(n int) outbox.Entry
	// handler serves the victim; others serve the bystander, if it needs one of its own.
	handler delivery.Handler
	others  []delivery.Handler
	// down and up end and revive what the victim is delivered to.
	down, up func(context.Context) error
	// length is how long it is down.
	length time.Duration
}

// Probes begin soon and come at least once a second, so that a short outage sees several.
const (
	probeDelay = 100 * time.Millisecond
	probeMax   = time.Second
)

// run lets the destination go down and checks that this cost no entry an attempt, disturbed nobody else, and led to no
// more calls than the probes of the circuit breaker. It returns when every entry is delivered.
func (o *outage) run(t *testing.T) {
	t.Helper()
	victim, bystander := o.victim(0).Destination, o.bystander(0).Destination
	seen := newObserver()
	handler, calls := watched(o.handler)
	cfg := lab.Fast()
	cfg.BatchSize, cfg.ProbeDelay, cfg.ProbeMax, cfg.LeaseTimeout = 20, probeDelay, probeMax, 5*time.Second
	cfg.Observers = []relay.Observer{seen}
	lab.Relay(t, lab.Store(t, o.pool), cfg, append(o.others, handler)...)
	stopLoad := o.load(t)
	lab.Eventually(t, "both are delivered to", func() bool { return seen.count(victim) > 100 && seen.count(bystander) > 100 })

	down := time.Now()
	if err := o.down(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the breaker opens", func() bool { return state(seen.breaker(victim)) == relay.BreakerOpen })
	before := seen.count(bystander)
	time.Sleep(o.length)
	during := seen.count(bystander) - before
	if during < 10 {
		t.Errorf("the other destination got %d entries in %v while this one was down", during, o.length)
	}
	if changes := seen.breaker(bystander); len(changes) > 0 {
		t.Errorf("the breaker of the other destination changed: %v", changes)
	}
	untouched(t, o.pool)
	changes, end := sinceOpened(seen.breaker(victim)), time.Now()
	if len(changes) == 0 {
		t.Fatal("the breaker is closed while the destination is down")
	}
	checkCalls(t, calls.between(victim, changes[0].at, end), probes(changes))
	if n := len(calls.between(victim, down, changes[0].at)); n > 50 {
		t.Errorf("%d calls before the breaker opened for good", n)
	}

	if err := o.up(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the breaker closes", func() bool { return state(seen.breaker(victim)) == relay.BreakerClosed })
	stopLoad()
	drained(t, o.pool)
	untouched(t, o.pool)
	if changes := seen.breaker(victim); state(changes) != relay.BreakerClosed {
		t.Errorf("everything is delivered, and the breaker is %s", state(changes))
	}
	t.Logf("%v down: %d probes; then %d entries delivered in all; %d went elsewhere meanwhile", o.length, probes(changes), seen.count(victim), during)
}

// load publishes one entry of each kind again and again until it is stopped.
func (o *outage) load(t *testing.T) (stop func()) {
	pub := newPublisher(t, outbox.Config{})
	return lab.Background(t, "publisher", func(ctx context.Context) error {
		for n := 0; ctx.Err() == nil; n++ {
			if err := write(context.WithoutCancel(ctx), o.pool, pub, o.victim(n), o.bystander(n)); err != nil {
				return err
			}
			time.Sleep(5 * time.Millisecond)
		}
		return nil
	})
}

// checkCalls checks that what a destination was asked to do since its breaker opened was to answer probes, one entry each.
func checkCalls(t *testing.T, calls []call, probes int) {
	t.Helper()
	if probes == 0 {
		t.Error("nothing was probed")
	}
	larger := 0
	for _, c := range calls {
		if c.entries > 1 {
			larger++
		}
	}
	// A claim that was under way when the breaker opened may still bring a batch.
	if larger > 1 || len(calls) > probes+1 {
		t.Errorf("%d calls, %d of them with several entries, and %d probes while the destination was down", len(calls), larger, probes)
	}
}

// turns names one of ten aggregates, in turn, and the number of the entry in it.
func turns(n int) (aggregate string, number int) { return fmt.Sprint("order-", n%10), n / 10 }
