package relay

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// watchEvery is how often running jobs are looked at.
const watchEvery = 20 * time.Millisecond

// ErrHandlerStuck is the error of an attempt whose handler did not return some time
// after its context had ended.
var ErrHandlerStuck = errors.New("satchel: handler did not return after its time was up")

// dispatch starts ready jobs while slots are free.
func (l *loop) dispatch(now time.Time) {
	if l.alone() {
		l.startJob(l.suspect, now)
		return
	}
	n := 0
	for n < len(l.ready) && len(l.busy)+len(l.stuck) < l.cfg.Concurrency {
		j, jobs := l.bundle(l.ready[n:])
		l.startJob(j, now)
		n += jobs
	}
	clear(l.ready[:n])
	l.ready = l.ready[n:]
}

func (l *loop) startJob(j *job, now time.Time) {
	j.started = now
	ctx, cancel := context.WithCancel(l.deliveries)
	j.cancel = cancel
	l.busy[j] = struct{}{}
	go l.worker.run(ctx, j)
}

// onReport takes the results of a job in.
func (l *loop) onReport(j *job) {
	results, finished := j.take()
	for i := range results {
		l.onResult(j, &results[i])
	}
	if finished {
		l.onFinished(j)
	}
}

func (l *loop) onFinished(j *job) {
	_, busy := l.busy[j]
	_, stuck := l.stuck[j]
	if !busy && !stuck {
		return // the watch had seen it before its last report came
	}
	j.cancel()
	l.clogged = false
	delete(l.busy, j)
	delete(l.stuck, j)
	j.lease.jobs--
	if l.suspect == j {
		l.suspect = nil
	}
	l.requeue(j)
	l.forget(j.lease)
}

// onResult decides what becomes of one entry.
func (l *loop) onResult(j *job, r *result) {
	if r.entry.reported {
		return // the loop had given up on it
	}
	r.entry.reported = true
	switch r.fate {
	case unstarted:
		l.giveBack(j.lease, r.entry, Released)
	case behind:
		l.giveBack(j.lease, r.entry, ReleasedBehind)
	default:
		l.attempts++
		l.quick.note(r.entry.record.DestinationType, r.attempt.Duration, r.attempt.Err == nil)
		l.conclude(j.lease, r)
	}
}

// watch collects results that wait for company, gives up on handlers that ignore the
// end of their context, and gives back what has waited too long for a slot.
func (l *loop) watch(ctx context.Context, now time.Time) {
	if now.Before(l.watchAt) {
		return
	}
	l.watchAt = now.Add(watchEvery)
	grace := min(l.cfg.DeliveryTimeout, 5*time.Second)
	for j := range l.busy {
		if j.size() > 1 {
			l.onReport(j)
		}
		_, since, ok := j.attempting()
		switch waited := now.Sub(since); {
		case !ok:
		case waited > l.cfg.DeliveryTimeout+grace:
			l.abandon(ctx, j, now)
		case waited >= watchEvery:
			l.requeue(j) // others need not wait for this one
		}
	}
	switch {
	case l.suspect != nil && l.suspect.started.IsZero() && now.Sub(l.suspect.queued) > l.cfg.LeaseTimeout:
		l.giveBackReady()
		l.claims.at = now.Add(jittered(l.cfg.PollingInterval)) // leave it to others for a moment
	case len(l.ready) > 0 && now.Sub(l.ready[0].queued) > l.cfg.LeaseTimeout:
		l.giveBackReady()
		l.clogged = true
	}
}

// abandon counts the attempts under way in a job as failed. The job keeps its slot
// until its handler returns, so that stuck handlers cannot pile up.
func (l *loop) abandon(ctx context.Context, j *job, now time.Time) {
	l.onReport(j)
	if _, busy := l.busy[j]; !busy {
		return // it has just finished
	}
	delete(l.busy, j)
	l.stuck[j] = struct{}{}
	j.cancel()
	l.requeue(j)
	for _, r := range j.broken(fmt.Errorf("%w (%v)", ErrHandlerStuck, l.cfg.DeliveryTimeout), now) {
		if r.fate == attempted && !r.entry.reported {
			l.cfg.Logger.ErrorContext(ctx, "handler did not return after its time was up",
				"entry", r.entry.record.ID, "stuck", len(l.stuck))
		}
		l.onResult(j, &r)
	}
	if l.suspect == j {
		l.suspect = nil
	}
}

// giveBack returns an entry of which nothing was tried.
func (l *loop) giveBack(le *lease, e *entry, kind OutcomeKind) {
	e.reported = true
	l.endProbe(e)
	l.hand(le, settlement{outcome: Outcome{ID: e.record.ID, Lease: le.id, Kind: kind, AggregateID: e.record.AggregateID}})
}

// giveBackJob returns all entries of a job that never ran.
func (l *loop) giveBackJob(j *job) {
	j.lease.jobs--
	for _, run := range j.runs {
		l.giveBackRun(j.lease, run)
	}
}

func (l *loop) giveBackRun(le *lease, run []*entry) {
	kind := Released
	for _, e := range run {
		l.giveBack(le, e, kind)
		kind = ReleasedBehind
	}
}
