package migrator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

const (
	lockPoll      = 100 * time.Millisecond
	unlockTimeout = 5 * time.Second
)

// exclusively runs fn on a session of its own, which holds the migration lock of the target schema and sees that schema
// only. The session is closed afterwards, so that its settings do not come back to the pool's users.
func exclusively(ctx context.Context, db *sql.DB, cfg Config, fn func(conn *sql.Conn, schemaName string) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrator: connecting: %w", err)
	}
	defer func() { err = errors.Join(err, discard(conn)) }()

	// An index build may take long and wait long; limits made for queries of an application must not end it.
	const unlimited = `SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
		set_config('idle_in_transaction_session_timeout', '0', false)`
	if _, err := conn.ExecContext(ctx, unlimited); err != nil {
		return fmt.Errorf("migrator: preparing the session: %w", err)
	}
	name, err := targetSchema(ctx, conn, cfg)
	if err != nil {
		return err
	}
	unlock, err := lockSchema(ctx, conn, name)
	if err != nil {
		return err
	}
	defer unlock()

	if err := createSchema(ctx, conn, name); err != nil {
		return err
	}
	if err := useSchema(ctx, conn, name, false); err != nil {
		return err
	}
	return fn(conn, name)
}

// querier is what *sql.Conn and *sql.Tx have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// targetSchema returns the configured schema or the connection's default one.
func targetSchema(ctx context.Context, q querier, cfg Config) (string, error) {
	if cfg.Schema != "" {
		return cfg.Schema, nil
	}
	var name sql.NullString
	if err := q.QueryRowContext(ctx, `SELECT current_schema()`).Scan(&name); err != nil {
		return "", fmt.Errorf("migrator: asking for the default schema: %w", err)
	}
	if !name.Valid {
		return "", ErrNoSchema
	}
	return name.String, nil
}

// useSchema makes name the only schema that unqualified names resolve to (besides PostgreSQL's own).
func useSchema(ctx context.Context, q querier, name string, local bool) error {
	if _, err := q.ExecContext(ctx, `SELECT set_config('search_path', $1, $2)`, quoteName(name), local); err != nil {
		return fmt.Errorf("migrator: setting search_path: %w", err)
	}
	return nil
}

// createSchema asks first, because CREATE SCHEMA IF NOT EXISTS needs a right on the database even if the schema is there.
func createSchema(ctx context.Context, conn *sql.Conn, name string) error {
	var exists bool
	const query = `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)`
	if err := conn.QueryRowContext(ctx, query, name).Scan(&exists); err != nil {
		return fmt.Errorf("migrator: looking for the schema: %w", err)
	}
	if exists {
		return nil
	}
	if _, err := conn.ExecContext(ctx, `CREATE SCHEMA `+quoteName(name)); err != nil {
		return fmt.Errorf("migrator: creating the schema: %w", err)
	}
	return nil
}

// lockSchema takes the advisory lock by asking again and again instead of waiting in one statement: a waiting statement
// holds a snapshot, and the concurrent index build of the session that has the lock waits for every older snapshot.
func lockSchema(ctx context.Context, conn *sql.Conn, name string) (unlock func(), err error) {
	key := lockKey(name)
	for {
		var got bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_catalog.pg_try_advisory_lock($1)`, key).Scan(&got); err != nil {
			return nil, fmt.Errorf("migrator: taking the migration lock: %w", err)
		}
		if got {
			break
		}
		if err := sleep(ctx, lockPoll); err != nil {
			return nil, fmt.Errorf("migrator: waiting for another migrator: %w", err)
		}
	}
	return func() {
		// Closing the session would release the lock too, but only when the server has noticed. A failure is of no
		// consequence for the same reason.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		_, _ = conn.ExecContext(ctx, `SELECT pg_catalog.pg_advisory_unlock($1)`, key)
	}, nil
}

// lockKey derives the advisory lock's key from the schema, so that different schemas migrate independently.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("satchel migrations in " + name)) // a hash never fails to write
	return int64(h.Sum64())
}

// discard closes the server session behind conn instead of returning it to the pool.
func discard(conn *sql.Conn) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // reports what the function returned
	if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) && !errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("migrator: closing the session: %w", err)
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
