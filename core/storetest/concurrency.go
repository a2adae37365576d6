package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var concurrencyChecks = []check{
	{"order holds among many sessions", nothing, func(e *env) { e.stress(1, false) }},
	{"order holds with runs", nothing, func(e *env) { e.stress(5, false) }},
	{"order holds while publishers work", nothing, func(e *env) { e.stress(5, true) }},
	{"nodes that die lose and double nothing", nothing, crashes},
}

// stress lets several sessions deliver many aggregates, with every outcome there is,
// under the checker.
func (e *env) stress(runLength int, publishing bool) {
	const aggregates, sessions = 6, 4
	perAggregate := rounds(8)
	c := newChecker()
	var publishers sync.WaitGroup
	for a := range aggregates {
		publishOne := func() {
			name := fmt.Sprintf("a%d", a)
			for range perAggregate {
				tx, err := e.Begin(e.ctx)
				if err != nil {
					e.Errorf("begin: %v", err)
					return
				}
				list, err := tx.PublishAll(e.ctx, entries(1+rand.IntN(2), name)...)
				if err == nil {
					c.expect(name, list...)
					err = tx.Commit(e.ctx)
				}
				if err != nil {
					e.Errorf("publish: %v", err)
					return
				}
			}
		}
		if publishing {
			publishers.Go(publishOne)
		} else {
			publishOne()
		}
	}
	var published atomic.Bool
	go func() { publishers.Wait(); published.Store(true) }()
	var workers sync.WaitGroup
	for i := range sessions {
		workers.Go(func() {
			w := worker{env: e, checker: c, session: e.session(fmt.Sprintf("s%d", i)), random: rand.New(rand.NewPCG(uint64(i), 1))}
			for e.ctx.Err() == nil && (!published.Load() || c.left() > 0) {
				w.cycle(runLength)
			}
		})
	}
	workers.Wait()
	publishers.Wait()
	for _, p := range c.report() {
		e.Error(p)
	}
	e.equal("left", c.left(), 0)
	for id, r := range e.rows() {
		if !r.State.Settled() {
			e.Errorf("entry %d is %s", id, r.State)
		}
	}
}

// worker is one relay of the stress tests.
type worker struct {
	*env
	checker *checker
	session relay.Session
	random  *rand.Rand
}

// cycle claims once and settles everything, aggregate by aggregate.
func (w *worker) cycle(runLength int) {
	req := w.request()
	req.Limit, req.RunLength = 10, runLength
	batch, err := w.session.Claim(w.ctx, req)
	if err != nil {
		w.Errorf("claim: %v", err)
		return
	}
	if len(batch.Records) == 0 {
		if !batch.More {
			time.Sleep(time.Millisecond)
		}
		return
	}
	runs := map[string][]held{}
	for _, r := range batch.Records {
		runs[r.AggregateID] = append(runs[r.AggregateID], held{Record: r, lease: batch.Lease})
	}
	var deliveries sync.WaitGroup
	for _, run := range runs {
		seed := w.random.Uint64()
		deliveries.Go(func() { w.deliverRun(run, rand.New(rand.NewPCG(seed, 2))) })
	}
	deliveries.Wait()
	if _, err := w.session.Settle(w.ctx, nil, []relay.LeaseID{batch.Lease}); err != nil {
		w.Errorf("settle: %v", err)
	}
}

// deliverRun delivers the entries of one aggregate in order, stops at the first that
// does not succeed, and settles them together.
func (w *worker) deliverRun(run []held, random *rand.Rand) {
	var outcomes []relay.Outcome
	stopped := false
	for _, h := range run {
		if stopped {
			outcomes = append(outcomes, h.outcome(relay.ReleasedBehind))
			continue
		}
		w.checker.start(h)
		if random.IntN(4) == 0 {
			time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
		}
		o := h.outcome(relay.Published)
		switch random.IntN(8) {
		case 0:
			o = h.failed(relay.Retried, time.Duration(random.IntN(3))*time.Millisecond)
		case 1:
			o = h.failed(relay.Deferred, time.Millisecond)
		case 2:
			o = h.outcome(relay.Released)
		case 3:
			o = h.failed(relay.DeadLettered, 0)
		}
		stopped = o.Kind != relay.Published
		w.checker.end(h, o.Kind == relay.Published || o.Kind == relay.DeadLettered)
		outcomes = append(outcomes, o)
	}
	recorded, err := w.session.Settle(w.ctx, outcomes, nil)
	if err != nil {
		w.Errorf("settle: %v", err)
	}
	for i, ok := range recorded {
		if !ok {
			w.Errorf("outcome %d of entry %d was not recorded, although its lease is good", outcomes[i].Kind, outcomes[i].ID)
		}
	}
}

// crashes lets sessions forget claims, as a node does that dies, while a recovery
// runs: every entry is published in the end, and each claim is settled once at most.
func crashes(e *env) {
	const sessions = 3
	total := rounds(40)
	for i := range total {
		e.publish(entry(fmt.Sprintf("a%d", i%7)))
	}
	var published atomic.Int64
	var workers sync.WaitGroup
	for i := range sessions {
		workers.Go(func() {
			s := e.session(fmt.Sprintf("s%d", i))
			random := rand.New(rand.NewPCG(uint64(i), 3))
			req := e.request()
			req.Limit, req.RunLength, req.Lease = 5, 3, 30*time.Millisecond
			for e.ctx.Err() == nil && int(published.Load()) < total {
				batch, err := s.Claim(e.ctx, req)
				if err != nil {
					e.Errorf("claim: %v", err)
					return
				}
				if random.IntN(4) == 0 {
					continue // died
				}
				outcomes := make([]relay.Outcome, len(batch.Records))
				for k, r := range batch.Records {
					outcomes[k] = held{Record: r, lease: batch.Lease}.outcome(relay.Published)
				}
				time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
				recorded, err := s.Settle(e.ctx, outcomes, []relay.LeaseID{batch.Lease})
				if err != nil {
					e.Errorf("settle: %v", err)
					return
				}
				for _, ok := range recorded {
					if ok {
						published.Add(1)
					}
				}
				if _, err := e.Maintenance.Reclaim(e.ctx, 10, unbounded); err != nil {
					e.Errorf("reclaim: %v", err)
					return
				}
			}
		})
	}
	workers.Wait()
	e.equal("published", published.Load(), total)
	for id, r := range e.rows() {
		if r.State != outbox.Published || r.PublishedAt.IsZero() {
			e.Errorf("entry %d is %s", id, r.State)
		}
	}
}
