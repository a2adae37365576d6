package relay

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// accept turns a batch into jobs and returns how many of its entries were asked for.
func (l *loop) accept(ctx context.Context, c claimed) int {
	records := c.batch.Records
	if len(records) == 0 {
		return 0
	}
	le := &lease{id: c.batch.Lease, ends: c.began.Add(l.cfg.LeaseTimeout)}
	if len(l.leases) == 0 {
		l.renewAt = c.began.Add(l.cfg.LeaseTimeout / renewEvery)
	}
	l.leases[le.id] = le
	le.held, l.inflight = len(records), l.inflight+len(records)
	now, entries := time.Now(), l.checked(ctx, le, c)
	l.ready = slices.Grow(l.ready, len(entries))
	runs := l.isolate(ctx, le, group(entries))
	jobs := make([]job, len(runs))
	for i, run := range runs {
		l.enqueue(&jobs[i], le, run, now)
	}
	l.withdrawDown()
	return len(entries)
}

// checked refuses records that were not asked for: they go back untouched. A store
// that hands them out is wrong, and delivering them would be worse.
func (l *loop) checked(ctx context.Context, le *lease, c claimed) []*entry {
	all, entries := make([]entry, len(c.batch.Records)), make([]*entry, 0, len(c.batch.Records))
	for i := range c.batch.Records {
		e := &all[i]
		e.record, e.probe = &c.batch.Records[i], c.probed != nil
		if i >= c.request.Limit || !c.request.Scope.Allows(e.record.DestinationType, e.record.Destination) {
			l.cfg.Logger.ErrorContext(ctx, "store handed out an entry that was not asked for", "entry", e.record.ID)
			l.giveBack(le, e, ReleasedBehind)
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// group splits entries into runs, one for each aggregate, in the order of their heads.
func group(entries []*entry) [][]*entry {
	runs := make([][]*entry, 0, len(entries))
	byAggregate := make(map[string]int, len(entries))
	for i, e := range entries {
		if id := e.record.AggregateID; id != "" {
			if k, ok := byAggregate[id]; ok {
				runs[k] = append(runs[k], e)
				continue
			}
			byAggregate[id] = len(runs)
		}
		runs = append(runs, entries[i:i+1:i+1]) // a run that grows moves elsewhere
	}
	return runs
}

// enqueue adds a run to the jobs, as j unless it joins another: runs of one batch
// handler and one claim share a job. A run can hold several types: it is then cut where
// the handler changes, and the rest goes back, since jobs of one aggregate must not run
// side by side.
func (l *loop) enqueue(j *job, le *lease, run []*entry, now time.Time) {
	h, _ := l.relay.handlers.Handler(run[0].record.DestinationType) // within the scope, so there is one
	for i, e := range run {
		if e.record.DestinationType != h.Type() {
			for _, rest := range run[i:] {
				l.giveBack(le, rest, ReleasedBehind)
			}
			run = run[:i]
			break
		}
	}
	if _, batch := h.(delivery.BatchHandler); batch && len(l.ready) > 0 {
		for _, j := range slices.Backward(l.ready) {
			if j.lease == le && j.handler.Type() == h.Type() {
				j.runs = append(j.runs, run)
				return
			}
		}
	}
	j.handler, j.lease, j.queued = h, le, now
	j.first[0] = run
	j.runs = j.first[:]
	le.jobs++
	l.ready = append(l.ready, j)
}
