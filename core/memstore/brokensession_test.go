package memstore_test

import (
	"context"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// brokenSession is a session that changes what goes in or comes out.
type brokenSession struct {
	relay.Session
	store       *memstore.Store
	request     func(r *relay.ClaimRequest)
	batch       func(b *relay.Batch)
	outcome     func(o *relay.Outcome)
	anyLease    bool
	sayRecorded bool
	keepLeases  bool
}

// brokenStore opens sessions with a breakage.
type brokenStore struct {
	*memstore.Store
	set func(s *brokenSession)
}

func (b brokenStore) Open(o relay.SessionOptions) relay.Session {
	s := &brokenSession{Session: b.Store.Open(o), store: b.Store}
	b.set(s)
	return s
}

func sessions(set func(s *brokenSession)) func(*memstore.Store, *storetest.Fixture) {
	return func(s *memstore.Store, f *storetest.Fixture) { f.Store = brokenStore{s, set} }
}

func (s *brokenSession) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if s.request != nil {
		s.request(&req)
	}
	batch, err := s.Session.Claim(ctx, req)
	if s.batch != nil {
		s.batch(&batch)
	}
	return batch, err
}

func (s *brokenSession) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	changed := append([]relay.Outcome{}, outcomes...)
	for i := range changed {
		if s.outcome != nil {
			s.outcome(&changed[i])
		}
		for _, r := range s.store.Rows() {
			if s.anyLease && r.ID == changed[i].ID {
				changed[i].Lease = r.Lease
			}
		}
	}
	recorded, err := s.Session.Settle(ctx, changed, ended)
	for i := range recorded {
		recorded[i] = recorded[i] || s.sayRecorded
	}
	return recorded, err
}

func (s *brokenSession) Renew(ctx context.Context, leases []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error) {
	lost, err := s.Session.Renew(ctx, leases, d)
	if s.keepLeases {
		lost = nil
	}
	return lost, err
}

// shareRuns claims runs and gives what follows the head to whoever claims next.
func shareRuns(s *memstore.Store, f *storetest.Fixture) {
	var mu sync.Mutex
	var left []relay.Batch
	f.Store = brokenStore{s, func(b *brokenSession) { b.Session = &sharing{b.Session, &mu, &left} }}
}

type sharing struct {
	relay.Session
	mu   *sync.Mutex
	left *[]relay.Batch
}

func (s *sharing) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := *s.left; len(waiting) > 0 {
		*s.left = waiting[1:]
		return waiting[0], nil
	}
	req.RunLength = max(req.RunLength, 2)
	batch, err := s.Session.Claim(ctx, req)
	seen := map[string]bool{}
	now := relay.Batch{Lease: batch.Lease, More: true}
	later := now
	for _, r := range batch.Records {
		if seen[r.AggregateID] {
			later.Records = append(later.Records, r)
		} else {
			now.Records = append(now.Records, r)
		}
		seen[r.AggregateID] = true
	}
	if len(later.Records) > 0 {
		*s.left = append(*s.left, later)
	}
	if len(now.Records) == 0 {
		return batch, err
	}
	return now, err
}
