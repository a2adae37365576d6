package lab

import (
	"context"
	"database/sql"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/schema/migrator"
)

// Database is a database with the tables of satchel and the table "business", which stands for an application's.
type Database struct {
	// Name is the name on the server.
	Name string
	// URL leads to it.
	URL string
}

// business is a row that an application writes in the transaction of its entry.
const business = `CREATE TABLE business (aggregate text NOT NULL, n int NOT NULL, PRIMARY KEY (aggregate, n))`

// at returns a database of the server that address leads to.
func at(t testing.TB, address, name string) *Database {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		t.Fatal("the address of the test server is not a URL with a host")
	}
	u.Path = "/" + name
	return &Database{Name: name, URL: u.String()}
}

// Host returns host and port of the server.
func (d *Database) Host() string {
	u, _ := url.Parse(d.URL) // parsed before
	if u.Port() == "" {
		return u.Host + ":5432"
	}
	return u.Host
}

// Through returns the same database behind a proxy, and gives its connections a name.
func (d *Database) Through(p *Proxy, application string) *Database {
	u, _ := url.Parse(d.URL) // parsed before
	if p != nil {
		u.Host = p.Address()
	}
	q := u.Query()
	q.Set("application_name", application)
	u.RawQuery = q.Encode()
	return &Database{Name: d.Name, URL: u.String()}
}

// Named returns the same database, and gives its connections a name.
func (d *Database) Named(application string) *Database { return d.Through(nil, application) }

// Pool opens a pool, which is closed when the test ends.
func (d *Database) Pool(t testing.TB, adjust ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	pool, err := d.Open(adjust...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Open opens a pool. It is for child processes; tests use [Database.Pool].
func (d *Database) Open(adjust ...func(*pgxpool.Config)) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 8
	for _, f := range adjust {
		f(cfg)
	}
	return pgxpool.NewWithConfig(context.Background(), cfg)
}

// Size is an adjustment of a pool.
func Size(n int32) func(*pgxpool.Config) { return func(cfg *pgxpool.Config) { cfg.MaxConns = n } }

// Conn opens a connection, which is closed when the test ends.
func (d *Database) Conn(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(Context(t), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// SQL opens a handle of database/sql, which is closed when the test ends.
func (d *Database) SQL(t testing.TB) *sql.DB {
	t.Helper()
	cfg, err := pgx.ParseConfig(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*cfg)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Migrate makes the tables in a schema, empty for the default one.
func (d *Database) Migrate(t testing.TB, schema string) {
	t.Helper()
	db := d.SQL(t)
	defer func() { _ = db.Close() }() // at once: a template must have no sessions
	if err := migrator.Apply(Context(t), db, migrator.Config{Schema: schema}); err != nil {
		t.Fatal(err)
	}
}

// Exec runs statements over a connection of their own. Without arguments they may be several in one text.
func (d *Database) Exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := execute(ctx, d.URL, statement, args...); err != nil {
		t.Fatalf("%.100s: %v", statement, err)
	}
}

func execute(ctx context.Context, address, statement string, args ...any) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if len(args) == 0 {
		args = []any{pgx.QueryExecModeSimpleProtocol}
	}
	_, err = conn.Exec(ctx, statement, args...)
	return err
}

// Querier is a pool or a connection.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Value returns the only value of a query.
func Value[T any](t testing.TB, q Querier, query string, args ...any) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := q.QueryRow(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%.100s: %v", query, err)
	}
	return v
}

// States counts the entries by state, as in "DEAD_LETTER=1 PUBLISHED=20".
func States(t testing.TB, q Querier) string {
	t.Helper()
	return Value[string](t, q, `SELECT COALESCE(string_agg(state || '=' || n, ' ' ORDER BY state), '')
		FROM (SELECT state, count(*) AS n FROM outbox GROUP BY state) s`)
}
