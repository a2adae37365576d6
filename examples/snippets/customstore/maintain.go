package customstore

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
)

// Reclaim implements maintenance.Store.
func (s *Store) Reclaim(ctx context.Context, batch, maxClaims int) (done maintenance.Reclaimed, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return done, cancelled(ctx, "maintenance.reclaim")
	}
	now := time.Now()
	for id, expires := range s.leases {
		if done.Leases == batch || expires.After(now) {
			continue
		}
		delete(s.leases, id)
		done.Leases++
		for _, r := range s.rows {
			switch {
			case r.lease != id || r.state != outbox.Processing:
			case maxClaims < 1 || r.Claims < maxClaims: // below 1 there is no bound
				r.state, r.lease, r.AvailableAt = outbox.Pending, 0, now
				done.Returned++
			default: // it keeps killing who claims it
				r.state, r.lease, r.deadLetteredAt = outbox.DeadLetter, 0, now
				r.lastError, r.errorType = fmt.Sprintf("claimed %d times without an outcome", r.Claims), "abandoned"
				done.DeadLettered++
			}
		}
	}
	return done, nil
}

// Heal implements maintenance.Store.
func (s *Store) Heal(ctx context.Context, window int) (done maintenance.Healed, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return done, cancelled(ctx, "maintenance.heal")
	}
	now := time.Now()
	for _, r := range s.rows {
		if r.ID <= s.healed || !r.unsettled() {
			continue
		}
		if done.Examined == window {
			return done, nil // the next call goes on from here
		}
		done.Examined++
		s.healed = r.ID
		_, leased := s.leases[r.lease]
		switch {
		case r.state == outbox.Processing && !leased:
			r.state, r.lease, r.AvailableAt = outbox.Pending, 0, now
		case r.state == outbox.Published:
			r.publishedAt = now
		case r.state == outbox.DeadLetter:
			r.deadLetteredAt = now
		default:
			continue
		}
		done.Repaired++
	}
	s.healed = 0
	return done, nil
}

// DeletePublished implements maintenance.Store.
func (s *Store) DeletePublished(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.deleteSettled(ctx, age, batch, func(r *row) time.Time { return r.publishedAt })
}

// DeleteDeadLetters implements maintenance.Store.
func (s *Store) DeleteDeadLetters(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.deleteSettled(ctx, age, batch, func(r *row) time.Time { return r.deadLetteredAt })
}

// deleteSettled deletes by the time of settlement, never by that of creation.
func (s *Store) deleteSettled(ctx context.Context, age time.Duration, batch int, settled func(*row) time.Time) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return 0, cancelled(ctx, "maintenance.delete")
	}
	limit, kept := time.Now().Add(-age), s.rows[:0:0]
	for _, r := range s.rows {
		if at := settled(r); n < batch && !at.IsZero() && at.Before(limit) {
			n++
			continue
		}
		kept = append(kept, r)
	}
	s.rows = kept
	return n, nil
}

// DeleteInbox implements maintenance.Store.
func (s *Store) DeleteInbox(ctx context.Context, age time.Duration, batch int) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return 0, cancelled(ctx, "maintenance.delete_inbox")
	}
	limit := time.Now().Add(-age)
	for m, held := range s.markers {
		if n < batch && held.by == nil && held.at.Before(limit) {
			delete(s.markers, m)
			n++
		}
	}
	return n, nil
}
