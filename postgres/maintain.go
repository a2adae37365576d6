package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/postgres/internal/reading"
)

// Reclaim implements maintenance.Store.
func (s *Store) Reclaim(ctx context.Context, batch, maxClaims int) (maintenance.Reclaimed, error) {
	if maxClaims < 1 {
		maxClaims = math.MaxInt32
	}
	var r maintenance.Reclaimed
	var headless []string
	err := s.batch(ctx, "maintenance.reclaim", func(b *pgx.Batch) {
		b.Queue(s.stmt.Reclaim, batch, maxClaims).QueryRow(func(row pgx.Row) error {
			return row.Scan(&r.Leases, &r.Returned, &r.DeadLettered, &headless)
		})
	})
	if err != nil {
		return maintenance.Reclaimed{}, err
	}
	if len(headless) > 0 {
		err = s.bump(ctx, headless)
	}
	if r.Returned > 0 || len(headless) > 0 {
		s.notify(ctx)
	}
	return r, err
}

// bump shows the first entries of aggregates to all relays.
func (s *Store) bump(ctx context.Context, aggregates []string) error {
	return s.batch(ctx, "maintenance.bump", func(b *pgx.Batch) { b.Queue(s.stmt.Bump, aggregates) })
}

// healCursor is where the next look at the unsettled entries begins.
type healCursor struct {
	destinationType string
	at              reading.Point
}

// Heal implements maintenance.Store.
func (s *Store) Heal(ctx context.Context, window int) (maintenance.Healed, error) {
	s.mu.Lock()
	from := s.heal
	s.mu.Unlock()
	if from.destinationType == "" {
		from.at = reading.Start
	}
	var h maintenance.Healed
	var lastType *string
	var lastDue, lastID *int64
	var headless []string
	err := s.batch(ctx, "maintenance.heal", func(b *pgx.Batch) {
		b.Queue(s.stmt.Heal, from.destinationType, from.at.Timestamp(), from.at.ID, window).QueryRow(func(row pgx.Row) error {
			return row.Scan(&h.Examined, &h.Repaired, &lastType, &lastDue, &lastID, &headless)
		})
	})
	if err != nil {
		return maintenance.Healed{}, err
	}
	var next healCursor
	if h.Examined >= window && lastType != nil {
		next = healCursor{*lastType, reading.Point{Due: *lastDue, ID: *lastID}}
	}
	s.mu.Lock()
	s.heal = next
	s.mu.Unlock()
	if len(headless) > 0 {
		err = s.bump(ctx, headless)
	}
	if h.Repaired > 0 {
		s.notify(ctx)
	}
	return h, err
}

// DeletePublished implements maintenance.Store.
func (s *Store) DeletePublished(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "maintenance.deletePublished", s.stmt.DeletePublished, age, batch)
}

// DeleteDeadLetters implements maintenance.Store.
func (s *Store) DeleteDeadLetters(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "maintenance.deleteDeadLetters", s.stmt.DeleteDeadLetters, age, batch)
}

// DeleteInbox implements maintenance.Store.
func (s *Store) DeleteInbox(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "maintenance.deleteInbox", s.stmt.DeleteInbox, age, batch)
}

func (s *Store) delete(ctx context.Context, op, statement string, age time.Duration, batch int) (deleted int, err error) {
	err = s.batch(ctx, op, func(b *pgx.Batch) {
		tag := b.Queue(statement, age.Microseconds(), min(batch, math.MaxInt32))
		tag.Exec(func(ct pgconn.CommandTag) error {
			deleted = int(ct.RowsAffected())
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}
