package relay

import (
	"context"
	"time"
)

// lease is one claim that is still held. It belongs to the loop, except for id.
type lease struct {
	id      LeaseID
	held    int       // entries not yet handed to a settlement
	pending int       // entries whose settlement waits to be sent
	ends    time.Time // when it ends unless renewed, by this process's monotonic clock
	lost    bool
	owes    bool // an outcome could not be recorded: the store must take the entry back
	jobs    int  // not finished
}

// open reports whether something is still held under the lease that must not be lost.
func (le *lease) open() bool { return !le.lost && le.held+le.pending > 0 }

// renewed is the answer to a renewal.
type renewed struct {
	asked []LeaseID
	until time.Time
	lost  []LeaseID
	err   error
}

// renewEvery is the share of a lease after which it is renewed.
const renewEvery = 3

// renew starts a renewal of every lease if the time has come.
func (l *loop) renew(now time.Time) {
	if l.renewing || now.Before(l.renewAt) {
		return
	}
	ids := make([]LeaseID, 0, len(l.leases))
	for id, le := range l.leases {
		if le.open() {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	l.renewing = true
	l.background(func() {
		// Counted from before the call: the store's clock starts the lease later.
		until := time.Now().Add(l.cfg.LeaseTimeout)
		ctx, cancel := l.storeContext(min(l.cfg.StoreTimeout, l.cfg.LeaseTimeout/2))
		defer cancel()
		lost, err := guard("relay.renew", func() ([]LeaseID, error) {
			return l.session.Renew(ctx, ids, l.cfg.LeaseTimeout)
		})
		l.renewals <- renewed{asked: ids, until: until, lost: lost, err: err}
	})
}

// onRenewed takes the answer in.
func (l *loop) onRenewed(ctx context.Context, r renewed) {
	l.renewing = false
	if r.err != nil {
		l.cfg.Logger.WarnContext(ctx, "leases not renewed", "error", r.err)
		l.renewAt = time.Now().Add(l.cfg.LeaseTimeout / (4 * renewEvery))
		return
	}
	l.renewAt = time.Now().Add(l.cfg.LeaseTimeout / renewEvery)
	for _, id := range r.asked {
		if le := l.leases[id]; le != nil {
			le.ends = r.until
		}
	}
	for _, id := range r.lost {
		if le := l.leases[id]; le != nil && le.open() {
			l.lose(ctx, le, "taken back by the store")
		}
	}
}

// expire gives up the leases that could not be renewed in time.
func (l *loop) expire(ctx context.Context, now time.Time) {
	for _, le := range l.leases {
		if le.open() && now.After(le.ends) {
			l.lose(ctx, le, "not renewed in time")
		}
	}
}

// lose ends what is done under a lease: running handlers are told through their
// context, what was not started is dropped. Outcomes are still sent to the store,
// which decides by the lease whether they count.
func (l *loop) lose(ctx context.Context, le *lease, why string) {
	le.lost = true
	l.cfg.Logger.WarnContext(ctx, "lease lost", "lease", le.id, "reason", why, "entries", le.held+le.pending)
	for _, jobs := range []map[*job]struct{}{l.busy, l.stuck} {
		for j := range jobs {
			if j.lease == le {
				j.cancel()
			}
		}
	}
	ready := l.ready
	l.ready = nil // dropping a probe can change it
	for _, j := range ready {
		if j.lease != le {
			l.ready = append(l.ready, j)
			continue
		}
		l.drop(j)
	}
	if l.suspect != nil && l.suspect.lease == le && l.suspect.started.IsZero() {
		l.drop(l.suspect)
		l.suspect = nil
	}
}

// drop forgets a job of a lost lease that never ran.
func (l *loop) drop(j *job) {
	for _, run := range j.runs {
		for _, e := range run {
			e.reported = true
			l.endProbe(e)
			l.settledOne(j.lease)
		}
	}
	j.lease.jobs--
	l.forget(j.lease)
}

// settledOne takes one entry out of the count of what is in flight.
func (l *loop) settledOne(le *lease) {
	le.held--
	l.inflight--
}

// forget removes a lease of which nothing is left.
func (l *loop) forget(le *lease) {
	if le.held+le.pending == 0 && le.jobs == 0 {
		delete(l.leases, le.id)
	}
}
