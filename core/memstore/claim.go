package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Claim implements relay.Session: first the heads by due time, the preferred type
// before the others, then the entries behind them, one more of each aggregate per
// round, while there is room. A probe is a claim like any other, since a session
// remembers nothing.
func (s *session) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if req.Limit < 1 || req.RunLength < 1 {
		return relay.Batch{}, fault.NewInvalid("claim request", "has a limit or a run length below 1")
	}
	if ctx.Err() != nil {
		return relay.Batch{}, canceled(ctx, "relay.claim")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	now := time.Now()
	picked, more := s.store.pick(req, now)
	if len(picked) == 0 {
		return relay.Batch{}, nil
	}
	s.store.nextLease++
	batch := relay.Batch{Lease: s.store.nextLease, More: more}
	l := &lease{owner: s.Owner, expires: now.Add(req.Lease)}
	for _, r := range picked {
		r.hold(batch.Lease, now)
		l.entries = append(l.entries, r.ID)
		batch.Records = append(batch.Records, clone(&r.Record))
	}
	s.store.leases[batch.Lease] = l
	return batch, nil
}

// pick chooses what to claim without changing anything.
func (s *Store) pick(req relay.ClaimRequest, now time.Time) (picked []*row, more bool) {
	claimable := func(r *row) bool {
		return r.state == outbox.Pending && !r.Due().After(now) && req.Scope.Allows(r.DestinationType, r.Destination)
	}
	for _, r := range s.live {
		if s.isHead(r) && claimable(r) {
			picked = append(picked, r)
		}
	}
	slices.SortFunc(picked, func(a, b *row) int {
		return cmp.Or(
			-compareBool(a.DestinationType == req.First, b.DestinationType == req.First),
			a.Due().Compare(b.Due()),
			cmp.Compare(a.ID, b.ID),
		)
	})
	if len(picked) > req.Limit {
		return picked[:req.Limit], true
	}
	heads := slices.Clone(picked)
	for depth := 1; depth < req.RunLength && len(heads) > 0; depth++ {
		// An aggregate whose next entry cannot be taken drops out: a run has no gaps.
		heads = slices.DeleteFunc(heads, func(head *row) bool {
			run := s.aggregates[head.AggregateID]
			if len(run) <= depth || !claimable(run[depth]) {
				return true
			}
			if len(picked) == req.Limit {
				more = true
				return true
			}
			picked = append(picked, run[depth])
			return false
		})
	}
	return picked, more
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
