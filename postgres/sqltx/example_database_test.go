package sqltx_test

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database opens empty tables, which done removes. The driver may be pgx or lib/pq. An
// application has a database of its own, and its tests take one from module postgrestest.
func database() (db *sql.DB, done func()) {
	tb, end := pgtest.Example()
	db = stdlib.OpenDB(*pgtest.Disposable(tb).Config(""))
	tb.Cleanup(func() { check(db.Close()) })
	return db, end
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
