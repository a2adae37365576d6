package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgres/sqltx"
	"github.com/satchel-go/satchel/postgres/sqlxtx"
)

// placed are a store's tables and the way to its database.
type placed struct {
	*pgtest.Database
	pool   *pgxpool.Pool
	schema string
}

// place takes a database and opens a pool on the tables of a schema.
func place(t testing.TB, schema string, adjust ...func(*pgxpool.Config)) placed {
	t.Helper()
	d := pgtest.New(t)
	return placed{d, d.Pool(t, schema, adjust...), schema}
}

// writer makes the application's side of a fixture.
type writer func(t *testing.T, p placed) (begin func(context.Context) (storetest.Tx, error), nilTx storetest.Statements)

// fixture connects the suite to a store whose entries are written by w.
func fixture(t *testing.T, p placed, w writer) storetest.Fixture {
	t.Helper()
	store, err := NewStore(p.pool, Config{Schema: p.schema})
	if err != nil {
		t.Fatal(err)
	}
	bind := pgxStatements(t, p.schema)
	begin, nilTx := w(t, p)
	tab := newTable(p.pool, p.schema)
	return storetest.Fixture{
		Store: store, Maintenance: store, Begin: begin, NilTx: nilTx, Table: tab,
		Adopt:  func(tx any) storetest.Statements { return bind(tx.(pgx.Tx)) },
		Relays: tab.relays,
	}
}

// statements are an application's statements in a transaction of any library.
type statements[Tx any] struct {
	tx        Tx
	publisher *outbox.Publisher[Tx]
	processor *inbox.Processor[Tx]
}

// PublishAll implements storetest.Statements.
func (s statements[Tx]) PublishAll(ctx context.Context, list ...outbox.Entry) ([]outbox.ID, error) {
	return s.publisher.PublishAll(ctx, s.tx, list...)
}

// Once implements storetest.Statements.
func (s statements[Tx]) Once(ctx context.Context, m inbox.Message, work func(ctx context.Context) error) (bool, error) {
	return s.processor.Once(ctx, s.tx, m, work)
}

// transaction adds the end and savepoints.
type transaction[Tx any] struct {
	statements[Tx]
	exec             func(ctx context.Context, sql string) error
	commit, rollback func(ctx context.Context) error
	savepoints       *int
}

// Savepoint implements storetest.Tx.
func (t transaction[Tx]) Savepoint(ctx context.Context) (undo func(context.Context) error, err error) {
	*t.savepoints++
	name := fmt.Sprintf("s%d", *t.savepoints)
	return func(ctx context.Context) error { return t.exec(ctx, "ROLLBACK TO SAVEPOINT "+name) }, t.exec(ctx, "SAVEPOINT "+name)
}

func (t transaction[Tx]) Commit(ctx context.Context) error   { return t.commit(ctx) }
func (t transaction[Tx]) Rollback(ctx context.Context) error { return t.rollback(ctx) }

// pgxStatements binds publisher and processor to transactions of pgx.
func pgxStatements(t testing.TB, schema string) func(pgx.Tx) statements[pgx.Tx] {
	t.Helper()
	cfg := pgxtx.Config{Schema: schema}
	pub, err := pgxtx.NewPublisher(cfg, outbox.Config{})
	proc, err2 := pgxtx.NewProcessor(cfg)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return func(tx pgx.Tx) statements[pgx.Tx] { return statements[pgx.Tx]{tx, pub, proc} }
}

// pgxWriter writes in transactions of the store's own pool.
func pgxWriter(t *testing.T, p placed) (func(context.Context) (storetest.Tx, error), storetest.Statements) {
	bind := pgxStatements(t, p.schema)
	return func(ctx context.Context) (storetest.Tx, error) {
		tx, err := p.pool.Begin(ctx)
		if err != nil {
			return nil, err
		}
		exec := func(ctx context.Context, sql string) error {
			_, err := tx.Exec(ctx, sql)
			return err
		}
		return transaction[pgx.Tx]{bind(tx), exec, tx.Commit, tx.Rollback, new(int)}, nil
	}, bind(nil)
}

// openPgx opens database/sql over pgx; openPq opens it over lib/pq.
func openPgx(t *testing.T, p placed) *sql.DB { return stdlib.OpenDB(*p.Config(p.schema)) }

func openPq(options string) func(t *testing.T, p placed) *sql.DB {
	return func(t *testing.T, p placed) *sql.DB {
		cfg := p.Config(p.schema)
		dsn := fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable %s", cfg.Host, cfg.Port, cfg.User, cfg.Password, p.Name, options)
		if p.schema != "" {
			dsn += " search_path=''"
		}
		db, err := sql.Open("postgres", dsn)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// sqlWriter writes in transactions of database/sql.
func sqlWriter(open func(*testing.T, placed) *sql.DB) writer {
	return func(t *testing.T, p placed) (func(context.Context) (storetest.Tx, error), storetest.Statements) {
		db := open(t, p)
		t.Cleanup(func() { _ = db.Close() })
		cfg := sqltx.Config{Schema: p.schema}
		pub, err := sqltx.NewPublisher(cfg, outbox.Config{})
		proc, err2 := sqltx.NewProcessor(cfg)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) (storetest.Tx, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, err
			}
			return finish(statements[*sql.Tx]{tx, pub, proc}, tx), nil
		}, statements[*sql.Tx]{nil, pub, proc}
	}
}

// sqlxWriter writes in transactions of sqlx.
func sqlxWriter(open func(*testing.T, placed) *sql.DB) writer {
	return func(t *testing.T, p placed) (func(context.Context) (storetest.Tx, error), storetest.Statements) {
		db := sqlx.NewDb(open(t, p), "postgres")
		t.Cleanup(func() { _ = db.Close() })
		cfg := sqlxtx.Config{Schema: p.schema}
		pub, err := sqlxtx.NewPublisher(cfg, outbox.Config{})
		proc, err2 := sqlxtx.NewProcessor(cfg)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) (storetest.Tx, error) {
			tx, err := db.BeginTxx(ctx, nil)
			if err != nil {
				return nil, err
			}
			return finish(statements[*sqlx.Tx]{tx, pub, proc}, tx.Tx), nil
		}, statements[*sqlx.Tx]{nil, pub, proc}
	}
}

// finish adds to statements what every transaction of database/sql has.
func finish[Tx any](s statements[Tx], tx *sql.Tx) storetest.Tx {
	return transaction[Tx]{
		statements: s, savepoints: new(int),
		exec: func(ctx context.Context, sql string) error {
			_, err := tx.ExecContext(ctx, sql)
			return err
		},
		commit:   func(context.Context) error { return tx.Commit() },
		rollback: func(context.Context) error { return tx.Rollback() },
	}
}

// serializable makes that the default isolation level of a pool's sessions.
func serializable(cfg *pgxpool.Config) {
	cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
}
