package memstore

import (
	"context"
	"maps"
	"time"

	"github.com/satchel-go/satchel/core/relay"
)

// registration is what one relay said about itself, and when.
type registration struct {
	relay.Advertisement
	at time.Time
}

// Advertise implements relay.Registrar.
func (s *session) Advertise(ctx context.Context, ad relay.Advertisement) (alive int, err error) {
	if ctx.Err() != nil {
		return 0, canceled(ctx, "relay.advertise")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	now := time.Now()
	s.store.relays[s.Owner] = registration{Advertisement: ad, at: now}
	if ad.Stale > 0 {
		maps.DeleteFunc(s.store.relays, func(_ string, r registration) bool { return now.Sub(r.at) > ad.Stale })
	}
	return len(s.store.relays), nil
}

// Retire implements relay.Registrar.
func (s *session) Retire(ctx context.Context) error {
	if ctx.Err() != nil {
		return canceled(ctx, "relay.retire")
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	delete(s.store.relays, s.Owner)
	return nil
}
