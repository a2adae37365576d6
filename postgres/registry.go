package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/relay"
)

// Advertise implements relay.Registrar.
func (s *session) Advertise(ctx context.Context, ad relay.Advertisement) (alive int, err error) {
	doc, err := json.Marshal(ad.Scopes)
	if err != nil {
		return 0, err
	}
	// Scopes can be long; they are written when they changed, and by the first call.
	scopes := string(doc)
	s.mu.Lock()
	unchanged := s.scopes == scopes
	s.mu.Unlock()
	var told *string
	if !unchanged {
		told = &scopes
	}
	err = s.batch(ctx, "relay.advertise", func(b *pgx.Batch) {
		b.Queue(s.stmt.RelayAdvertise, s.opts.Owner, ad.Asleep, told)
		b.Queue(s.stmt.RelayReap, ad.Stale.Microseconds()).QueryRow(func(row pgx.Row) error { return row.Scan(&alive) })
	})
	if err == nil {
		s.mu.Lock()
		s.scopes = scopes
		s.mu.Unlock()
	}
	return alive, err
}

// Retire implements relay.Registrar.
func (s *session) Retire(ctx context.Context) error {
	s.mu.Lock()
	s.scopes = ""
	s.mu.Unlock()
	return s.batch(ctx, "relay.retire", func(b *pgx.Batch) { b.Queue(s.stmt.RelayRetire, s.opts.Owner) })
}

// notify wakes sleeping relays. It is a hint: failing to give it costs them at most a
// polling interval.
func (s *Store) notify(ctx context.Context) {
	_ = s.use(ctx, "relay.notify", func(conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, s.stmt.Notify)
		return err
	})
}
