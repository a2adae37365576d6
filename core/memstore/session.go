package memstore

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/relay"
)

// session is one relay's access. It remembers nothing: every claim looks at all
// unsettled entries.
type session struct {
	store *Store
	relay.SessionOptions
}

// Open implements relay.Store.
func (s *Store) Open(o relay.SessionOptions) relay.Session {
	return &session{store: s, SessionOptions: o}
}

// Renew implements relay.Session. A lease that has expired but was not taken back
// yet is as good as any.
func (s *session) Renew(ctx context.Context, ids []relay.LeaseID, d time.Duration) (lost []relay.LeaseID, err error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx, "relay.renew")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	now := time.Now()
	for _, id := range ids {
		l := s.store.leases[id]
		if l == nil {
			lost = append(lost, id)
			continue
		}
		l.expires = now.Add(d)
	}
	return lost, nil
}

// NextDue implements relay.Session.
func (s *session) NextDue(ctx context.Context, scope claim.Snapshot) (wait time.Duration, ok bool, err error) {
	if ctx.Err() != nil {
		return 0, false, canceled(ctx, "relay.nextDue")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	now := time.Now()
	for _, r := range s.store.live {
		d := r.Due().Sub(now)
		if d <= 0 || (ok && d >= wait) || !scope.Allows(r.DestinationType, r.Destination) {
			continue
		}
		wait, ok = d, true
	}
	return wait, ok, nil
}
