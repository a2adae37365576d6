package relay

import (
	"context"
	"time"
)

// suspectClaims is the number of claims lost in a row after which an entry is
// suspected of killing its relay.
const suspectClaims = 2

// isolate keeps suspected entries away from all others, so that a crash costs no
// innocent entry one of its claims: the first suspect waits until nothing else is
// under way and is then delivered alone; other suspects go back and get their turn
// when they are claimed again. The runs returned are the unsuspected ones.
func (l *loop) isolate(ctx context.Context, le *lease, runs [][]*entry) [][]*entry {
	kept := runs[:0]
	for _, run := range runs {
		if !suspected(run) {
			kept = append(kept, run)
			continue
		}
		head, rest := run[0], run[1:]
		for _, e := range rest {
			l.giveBack(le, e, ReleasedBehind)
		}
		if l.suspect != nil {
			l.giveBack(le, head, Released)
			continue
		}
		l.cfg.Logger.WarnContext(ctx, "entry was lost by several claims in a row and is delivered alone",
			"entry", head.record.ID, "claims", head.record.Claims)
		h, _ := l.relay.handlers.Handler(head.record.DestinationType)
		l.suspect = &job{handler: h, lease: le, runs: [][]*entry{{head}}, queued: time.Now()}
		le.jobs++
	}
	return kept
}

func suspected(run []*entry) bool {
	for _, e := range run {
		if e.record.Claims > suspectClaims {
			return true
		}
	}
	return false
}

// alone reports whether the suspect is the only thing under way.
func (l *loop) alone() bool {
	return l.suspect != nil && l.suspect.started.IsZero() && len(l.ready) == 0 && len(l.busy) == 0 &&
		len(l.stuck) < l.cfg.Concurrency && len(l.settle.pending) == 0 && !l.settle.busy && l.claims.busy == 0
}
