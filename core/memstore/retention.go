package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
)

// DeletePublished implements maintenance.Store, oldest first. The archive is left alone.
func (s *Store) DeletePublished(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.deleteRows(ctx, "maintenance.deletePublished", age, batch, func(r *row) time.Time { return r.publishedAt })
}

// DeleteDeadLetters implements maintenance.Store, oldest first.
func (s *Store) DeleteDeadLetters(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.deleteRows(ctx, "maintenance.deleteDeadLetters", age, batch, func(r *row) time.Time { return r.deadLetteredAt })
}

// deleteRows deletes rows by the time that at returns; a zero time is never old.
func (s *Store) deleteRows(ctx context.Context, op string, age time.Duration, batch int, at func(*row) time.Time) (int, error) {
	if ctx.Err() != nil {
		return 0, canceled(ctx, op)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := time.Now().Add(-age)
	var old []*row
	for _, r := range s.rows {
		if t := at(r); !t.IsZero() && t.Before(limit) {
			old = append(old, r)
		}
	}
	slices.SortFunc(old, func(a, b *row) int { return cmp.Or(at(a).Compare(at(b)), cmp.Compare(a.ID, b.ID)) })
	old = old[:min(batch, len(old))]
	for _, r := range old {
		delete(s.rows, r.ID)
	}
	return len(old), nil
}

// DeleteInbox implements maintenance.Store, oldest first. Markers of open
// transactions are not there yet.
func (s *Store) DeleteInbox(ctx context.Context, age time.Duration, batch int) (int, error) {
	if ctx.Err() != nil {
		return 0, canceled(ctx, "maintenance.deleteInbox")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := time.Now().Add(-age)
	var old []inbox.Message
	for m, held := range s.markers {
		if held.tx == nil && held.at.Before(limit) {
			old = append(old, m)
		}
	}
	slices.SortFunc(old, func(a, b inbox.Message) int { return s.markers[a].at.Compare(s.markers[b].at) })
	old = old[:min(batch, len(old))]
	for _, m := range old {
		delete(s.markers, m)
	}
	return len(old), nil
}
