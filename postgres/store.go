package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgerr"
	"github.com/satchel-go/satchel/postgres/internal/stmt"
)

// Store is the table of entries as relays and maintenance see it. It is safe for
// concurrent use and holds no connection between calls.
type Store struct {
	pool *pgxpool.Pool
	stmt *stmt.Set
	cfg  Config

	mu   sync.Mutex
	heal healCursor // guarded by mu
}

var (
	_ relay.Store       = (*Store)(nil)
	_ maintenance.Store = (*Store)(nil)
)

// NewStore returns a store on the tables of a pool's database. It does no I/O. The
// pool stays the caller's: it may be shared with the application, in any query mode,
// and must be closed after the relays have stopped. A relay uses at most five
// connections at once and none while handlers run.
func NewStore(pool *pgxpool.Pool, cfg Config) (*Store, error) {
	if pool == nil {
		return nil, fault.NewInvalid("pool", "is nil")
	}
	set, err := stmt.Load(cfg.Schema)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, stmt: set, cfg: cfg}, nil
}

// batch runs statements in one transaction and one round trip. The isolation level is
// fixed, whatever the database's default is: the statements are made for it. Each
// queue is a transaction of its own, which sees what those before it have committed.
func (s *Store) batch(ctx context.Context, op string, queues ...func(b *pgx.Batch)) error {
	return s.use(ctx, op, func(conn *pgxpool.Conn) error {
		b := &pgx.Batch{}
		for _, queue := range queues {
			// Not READ WRITE: a standby refuses that with an error that does not say "read-only".
			b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
			b.Queue(s.stmt.Settings)
			queue(b)
			b.Queue("COMMIT")
		}
		return conn.SendBatch(ctx, b).Close()
	})
}

// use is the one place where the store meets its database: it lends a connection,
// maps the error, and drops a connection that leads to a server which takes no
// writes, so that the pool finds the new primary after a failover.
func (s *Store) use(ctx context.Context, op string, call func(*pgxpool.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return pgerr.Wrap(op, err)
	}
	defer conn.Release()
	err = call(conn)
	if pgerr.Code(err) == pgerr.ReadOnly {
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
	}
	return pgerr.Wrap(op, err)
}
