package cluster

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

// stage is a database with a journal.
type stage struct {
	*testing.T
	db      *lab.Database
	pool    *pgxpool.Pool
	journal *lab.Journal
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	db := lab.New(t)
	return &stage{T: t, db: db, pool: db.Pool(t, lab.Size(16)), journal: lab.NewJournal(t)}
}

// journalled is a handler that keeps the journal around work, which may be nil.
func (s *stage) journalled(node string, work func(ctx context.Context, n int) error) delivery.Handler {
	return lab.Handle(func(ctx context.Context, e delivery.Envelope) error {
		return s.journal.Record(ctx, node, e, func(ctx context.Context, n int) error {
			if work == nil {
				return nil
			}
			return work(ctx, n)
		})
	})
}

// published waits until so many entries are published.
func (s *stage) published(n int) {
	s.Helper()
	lab.Eventually(s, "the entries are published", func() bool {
		return lab.Value[int](s, s.pool, `SELECT count(*) FROM outbox WHERE published_at IS NOT NULL`) == n
	})
}
