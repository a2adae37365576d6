package memstore

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Settle implements relay.Session.
func (s *session) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx, "relay.settle")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	now := time.Now()
	recorded := make([]bool, len(outcomes))
	for i := range outcomes {
		recorded[i] = s.settle(&outcomes[i], now)
	}
	for _, id := range ended {
		delete(s.store.leases, id)
	}
	return recorded, nil
}

// settle records one outcome if the entry is still held under its lease.
func (s *session) settle(o *relay.Outcome, now time.Time) bool {
	r := s.store.rows[o.ID]
	if r == nil || r.state != outbox.Processing || r.lease != o.Lease || o.Lease == 0 {
		return false
	}
	switch o.Kind {
	case relay.Published:
		r.Claims = 0
		r.finish(outbox.Published, now)
		s.published(r)
	case relay.DeadLettered:
		r.Claims = 0
		r.Attempt++
		r.lastError, r.errorType = o.LastError, o.ErrorType
		r.finish(outbox.DeadLetter, now)
		s.store.settled(r)
	case relay.Retried:
		r.Claims = 0
		r.Attempt++
		r.lastError, r.errorType = o.LastError, o.ErrorType
		r.release(now.Add(o.Delay), now)
	case relay.Deferred:
		r.Claims = 0
		r.lastError, r.errorType = o.LastError, o.ErrorType
		r.release(now.Add(o.Delay), now)
	case relay.Released:
		r.Claims--
		r.release(now, now)
	case relay.ReleasedBehind:
		r.Claims--
		r.release(r.AvailableAt, now)
	default:
		return false
	}
	return true
}

// published does with a delivered entry what the relay was configured for.
func (s *session) published(r *row) {
	s.store.settled(r)
	if s.OnPublished != relay.Archive && s.OnPublished != relay.Delete {
		return
	}
	delete(s.store.rows, r.ID)
	if s.OnPublished == relay.Archive {
		v := r.view(nil)
		v.Archived = true
		s.store.archive = append(s.store.archive, v)
	}
}
