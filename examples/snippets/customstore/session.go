package customstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// session is one relay's access. A store that reads an index like a log keeps its position
// here; this one looks at everything each time.
type session struct {
	*Store
	relay.SessionOptions
}

// Open implements relay.Store.
func (s *Store) Open(o relay.SessionOptions) relay.Session { return &session{s, o} }

// insert keeps the rows in the order of their ids, which need not be that of the commits.
func (s *Store) insert(r *row) {
	at, _ := slices.BinarySearchFunc(s.rows, r.ID, func(r *row, id outbox.ID) int { return cmp.Compare(r.ID, id) })
	s.rows = slices.Insert(s.rows, at, r)
}

func (s *Store) find(id outbox.ID) *row {
	at, found := slices.BinarySearchFunc(s.rows, id, func(r *row, id outbox.ID) int { return cmp.Compare(r.ID, id) })
	if !found {
		return nil
	}
	return s.rows[at]
}

// Claim implements relay.Session: the due heads of aggregates that the scope allows, and
// then, while there is room, what follows each of them without a gap.
func (s *session) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if req.Limit < 1 || req.RunLength < 1 {
		return relay.Batch{}, fault.NewInvalid("claim request", "has a limit or a run length below 1")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return relay.Batch{}, cancelled(ctx, "relay.claim")
	}
	now := time.Now()
	picked, more := s.pick(req, now)
	if len(picked) == 0 {
		return relay.Batch{}, nil
	}
	s.lastLease++
	s.leases[s.lastLease] = now.Add(req.Lease)
	batch := relay.Batch{Lease: s.lastLease, More: more}
	for _, r := range picked {
		r.state, r.lease = outbox.Processing, s.lastLease
		r.Claims++
		batch.Records = append(batch.Records, copied(r.Record))
	}
	return batch, nil
}

// pick chooses what to claim, and says whether it left something for want of room.
func (s *Store) pick(req relay.ClaimRequest, now time.Time) (picked []*row, more bool) {
	claimable := func(r *row) bool {
		return r.state == outbox.Pending && !r.Due().After(now) && req.Scope.Allows(r.DestinationType, r.Destination)
	}
	waiting := map[string][]*row{} // by aggregate, oldest first
	for _, r := range s.rows {
		switch {
		case !r.unsettled():
		case r.AggregateID != "":
			waiting[r.AggregateID] = append(waiting[r.AggregateID], r)
		case claimable(r):
			picked = append(picked, r)
		}
	}
	for _, list := range waiting {
		if claimable(list[0]) {
			picked = append(picked, list[0])
		}
	}
	slices.SortFunc(picked, func(a, b *row) int {
		if first := a.DestinationType == req.First; first != (b.DestinationType == req.First) {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return cmp.Or(a.Due().Compare(b.Due()), cmp.Compare(a.ID, b.ID))
	})
	if len(picked) > req.Limit {
		return picked[:req.Limit], true
	}
	for _, head := range picked {
		for i, r := range waiting[head.AggregateID] {
			if i == req.RunLength || !claimable(r) {
				break
			}
			if i == 0 {
				continue // the head itself
			}
			if len(picked) == req.Limit {
				return picked, true
			}
			picked = append(picked, r)
		}
	}
	return picked, false
}

// Settle implements relay.Session. An entry that is not held under the lease of its outcome
// any more belongs to somebody else, and is left alone.
func (s *session) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, cancelled(ctx, "relay.settle")
	}
	now := time.Now()
	recorded := make([]bool, len(outcomes))
	for i, o := range outcomes {
		r := s.find(o.ID)
		if r == nil || r.state != outbox.Processing || r.lease != o.Lease {
			continue
		}
		recorded[i] = true
		s.settle(r, o, now)
	}
	for _, lease := range ended {
		delete(s.leases, lease)
	}
	return recorded, nil
}

func (s *session) settle(r *row, o relay.Outcome, now time.Time) {
	r.lease, r.state = 0, outbox.Pending
	switch o.Kind {
	case relay.Released:
		r.Claims, r.AvailableAt = r.Claims-1, now
		return
	case relay.ReleasedBehind:
		r.Claims--
		return
	}
	r.Claims = 0 // there was an outcome
	if o.Kind == relay.Published {
		r.state, r.publishedAt = outbox.Published, now
		if s.OnPublished == relay.Delete {
			s.remove(r)
		}
		return
	}
	r.lastError, r.errorType = o.LastError, o.ErrorType
	if o.Kind != relay.Deferred {
		r.Attempt++
	}
	if o.Kind == relay.DeadLettered {
		r.state, r.deadLetteredAt = outbox.DeadLetter, now
		return
	}
	r.AvailableAt = now.Add(o.Delay)
}

func (s *Store) remove(gone *row) {
	s.rows = slices.DeleteFunc(s.rows, func(r *row) bool { return r == gone })
}

// Renew implements relay.Session.
func (s *session) Renew(ctx context.Context, leases []relay.LeaseID, d time.Duration) (lost []relay.LeaseID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, cancelled(ctx, "relay.renew")
	}
	for _, id := range leases {
		if _, held := s.leases[id]; !held {
			lost = append(lost, id)
			continue
		}
		s.leases[id] = time.Now().Add(d)
	}
	return lost, nil
}

// NextDue implements relay.Session.
func (s *session) NextDue(ctx context.Context, scope claim.Snapshot) (wait time.Duration, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return 0, false, cancelled(ctx, "relay.next_due")
	}
	for _, r := range s.rows {
		d := time.Until(r.Due())
		if r.unsettled() && d > 0 && (!ok || d < wait) && scope.Allows(r.DestinationType, r.Destination) {
			wait, ok = d, true
		}
	}
	return wait, ok, nil
}
