package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is a database with empty tables, in "public" and in [Mapped].
type Database struct {
	// Name is its name on the server.
	Name string
	cfg  *pgx.ConnConfig
}

// New returns a database for one test. It is emptied for another test afterwards, so
// only rows may be changed.
func New(t testing.TB) *Database {
	t.Helper()
	return take(t, true)
}

// Disposable returns a database that nobody gets after this test.
func Disposable(t testing.TB) *Database {
	t.Helper()
	return take(t, false)
}

func take(t testing.TB, reuse bool) *Database {
	t.Helper()
	cfg := Config(t)
	if err := start(cfg); err != nil {
		t.Fatalf("make the template database: %v", err)
	}
	d := &Database{cfg: cfg}
	server.mu.Lock()
	if n := len(server.free); reuse && n > 0 {
		d.Name, server.free = server.free[n-1], server.free[:n-1]
	}
	server.mu.Unlock()
	if d.Name == "" {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		var err error
		if d.Name, err = create(ctx, cfg, server.template); err != nil {
			t.Fatalf("copy the template database: %v", err)
		}
	}
	if reuse {
		t.Cleanup(func() { d.giveBack(t) })
	}
	return d
}

// giveBack empties the tables. Sessions that a test left behind are ended: their locks
// and transactions are nobody's any more.
func (d *Database) giveBack(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.Config(""))
	if err != nil {
		t.Errorf("empty the database: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	const tables = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
DO $$
DECLARE
    used regclass;
BEGIN
    FOR used IN SELECT oid FROM pg_class WHERE relname ~ '^(inbox|outbox)' AND relkind = 'r' AND pg_relation_size(oid) > 0 LOOP
        EXECUTE 'TRUNCATE ' || used;
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename), 1, false) FROM pg_sequences;
END $$`
	if _, err := conn.Exec(ctx, tables, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Errorf("empty the database: %v", err)
		return
	}
	server.mu.Lock()
	server.free = append(server.free, d.Name)
	server.mu.Unlock()
}

// Config returns connection options for the tables of a schema. With a schema, the
// search_path is empty: a name that is not qualified is not found.
func (d *Database) Config(schemaName string) *pgx.ConnConfig {
	cfg := d.cfg.Copy()
	cfg.Database = d.Name
	if schemaName != "" {
		cfg.RuntimeParams["search_path"] = ""
	}
	return cfg
}

// Pool returns a pool on the tables of a schema, which is closed when the test ends.
func (d *Database) Pool(t testing.TB, schemaName string, adjust ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig("")
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig = d.Config(schemaName)
	cfg.MaxConns = 16
	cfg.HealthCheckPeriod = time.Minute
	for _, f := range adjust {
		f(cfg)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Mode returns an adjustment of a pool: the query mode.
func Mode(m pgx.QueryExecMode) func(*pgxpool.Config) {
	return func(cfg *pgxpool.Config) { cfg.ConnConfig.DefaultQueryExecMode = m }
}

// Conn returns a connection of its own, which is closed when the test ends.
func (d *Database) Conn(t testing.TB, schemaName string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(context.Background(), d.Config(schemaName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Exec runs statements that no test can go on without; they may be several in one text.
func (d *Database) Exec(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	cfg := d.Config("")
	if err := admin(ctx, cfg, sql); err != nil {
		t.Fatalf("%.80s: %v", sql, err)
	}
}
