package memstore

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
)

// Insert implements outbox.Writer. The entries get their ids now and become visible
// when tx commits. A transaction that is nil, ended, failed or of another store is
// refused, as is a context that has ended.
func (s *Store) Insert(ctx context.Context, tx *Tx, records []outbox.Record) ([]outbox.ID, error) {
	if err := s.enter(ctx, tx, "outbox.publish"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := time.Now()
	ids := make([]outbox.ID, len(records))
	for i := range records {
		r := &row{Record: clone(&records[i]), state: outbox.Pending, updatedAt: now}
		r.Attempt, r.Claims, r.CreatedAt = 0, 0, now
		// A due time in the past would lie behind what relays have already looked at.
		if r.AvailableAt.Before(now) {
			r.AvailableAt = now
		}
		ids[i] = tx.nextRow(r)
	}
	return ids, nil
}
