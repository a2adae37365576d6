package pgxtx_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database returns a pool on empty tables, which done removes. An application has a pool of
// its own, and its tests take one from module postgrestest.
func database() (pool *pgxpool.Pool, done func()) {
	tb, end := pgtest.Example()
	return pgtest.Disposable(tb).Pool(tb, ""), end
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
