package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Reclaim implements maintenance.Store; the leases that expired first go first.
func (s *Store) Reclaim(ctx context.Context, batch, maxClaims int) (maintenance.Reclaimed, error) {
	var done maintenance.Reclaimed
	if ctx.Err() != nil {
		return done, canceled(ctx, "maintenance.reclaim")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var expired []relay.LeaseID
	for id, l := range s.leases {
		if l.expires.Before(now) {
			expired = append(expired, id)
		}
	}
	slices.SortFunc(expired, func(a, b relay.LeaseID) int {
		return cmp.Or(s.leases[a].expires.Compare(s.leases[b].expires), cmp.Compare(a, b))
	})
	for _, id := range expired[:min(batch, len(expired))] {
		for _, entry := range s.leases[id].entries {
			// A lease names all entries it began with; those settled since are not held.
			if r := s.rows[entry]; r != nil && r.state == outbox.Processing && r.lease == id {
				s.takeBack(r, maxClaims, now, &done)
			}
		}
		delete(s.leases, id)
		done.Leases++
	}
	return done, nil
}

func (s *Store) takeBack(r *row, maxClaims int, now time.Time, done *maintenance.Reclaimed) {
	// A bound below 1 would give up every entry; it is no bound instead.
	if maxClaims < 1 || r.Claims < maxClaims {
		r.release(now, now)
		done.Returned++
		return
	}
	r.lastError = fmt.Sprintf("claimed %d times in a row without an outcome", r.Claims)
	r.errorType = "abandoned"
	r.finish(outbox.DeadLetter, now)
	s.settled(r)
	done.DeadLettered++
}

// Heal implements maintenance.Store.
func (s *Store) Heal(ctx context.Context, window int) (maintenance.Healed, error) {
	var done maintenance.Healed
	if ctx.Err() != nil {
		return done, canceled(ctx, "maintenance.heal")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Sorted(maps.Keys(s.live))
	from, _ := slices.BinarySearch(ids, s.healed+1)
	ids = ids[from:]
	ids = ids[:min(window, len(ids))]
	now := time.Now()
	for _, id := range ids {
		if s.heal(s.live[id], now) {
			done.Repaired++
		}
	}
	done.Examined = len(ids)
	s.healed = 0
	if done.Examined == window {
		s.healed = ids[len(ids)-1]
	}
	return done, nil
}

// heal repairs one unsettled row and reports whether it had to.
func (s *Store) heal(r *row, now time.Time) bool {
	switch {
	case r.state == outbox.Processing && s.leases[r.lease] == nil:
		r.release(now, now)
	case r.state.Settled(): // but it is still among the unsettled ones
		r.finish(r.state, now)
		s.settled(r)
	default:
		return false
	}
	return true
}
