package relay

import (
	"context"
	"slices"
	"time"
)

// stop ends the loop in order, each step before what depends on it:
// no new claims; what was not started goes back; running handlers finish, or are
// told to; outcomes are recorded and observed; the registry forgets the relay.
func (l *loop) stop(ctx context.Context) error {
	l.stopping.Store(true)
	drained := time.Now().Add(l.cfg.DrainTimeout)
	end := drained.Add(min(l.cfg.DrainTimeout, time.Second))
	l.endsAt.Store(&end)
	told := false
	for {
		now := time.Now()
		l.giveBackReady()
		l.expire(ctx, now)
		l.watch(ctx, now)
		l.flush(now)
		l.renew(now)
		if !told && !now.Before(drained) {
			told = true
			l.endAll()
		}
		if l.idle() && !l.sleep.busy && len(l.stuck) == 0 || !now.Before(end) {
			break
		}
		wait := min(watchEvery, end.Sub(now))
		timer := time.NewTimer(wait)
		select {
		case c := <-l.claimed:
			l.claims.busy, l.claims.made = l.claims.busy-1, true
			if c.err == nil {
				l.accept(ctx, c)
			}
		case j := <-l.reports:
			l.onReport(j)
		case s := <-l.settled:
			l.onSettled(s)
		case r := <-l.renewals:
			l.onRenewed(ctx, r)
		case a := <-l.adverts:
			l.onAdvertised(ctx, a)
		case <-timer.C:
		}
		timer.Stop()
	}
	l.retire(ctx)
	return l.leftover()
}

// giveBackReady returns everything that was claimed and not started.
func (l *loop) giveBackReady() {
	ready := l.ready
	l.ready = nil // giving a probe back can change it
	for _, j := range ready {
		l.giveBackJob(j)
	}
	if j := l.suspect; j != nil && j.started.IsZero() {
		l.suspect = nil
		l.giveBackJob(j)
	}
}

// retire removes the relay from the registry. Not to be reached is no failure: the
// others remove it when its heartbeat is stale.
func (l *loop) retire(ctx context.Context) {
	registrar := l.registrar()
	if registrar == nil {
		return
	}
	call, cancel := l.storeContext(min(l.cfg.StoreTimeout, 2*time.Second))
	defer cancel()
	if _, err := guard("relay.retire", func() (struct{}, error) { return struct{}{}, registrar.Retire(call) }); err != nil {
		l.cfg.Logger.WarnContext(ctx, "relay not removed from the registry", "error", err)
	}
}

// leftover names the entries whose handlers did not return.
func (l *loop) leftover() error {
	var stuck StuckError
	for _, jobs := range []map[*job]struct{}{l.busy, l.stuck} {
		for j := range jobs {
			current, _, underWay := j.attempting()
			if !underWay {
				continue
			}
			for _, e := range current {
				stuck.Entries = append(stuck.Entries, e.record.ID)
			}
		}
	}
	if len(stuck.Entries) == 0 {
		return nil
	}
	slices.Sort(stuck.Entries)
	return &stuck
}
