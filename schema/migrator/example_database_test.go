package migrator_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// database opens an empty database on the server of SATCHEL_DATABASE_URL, which done removes.
// An application opens its own.
func database() (db *sql.DB, done func()) {
	ctx := context.Background()
	cfg := must(pgx.ParseConfig(os.Getenv("SATCHEL_DATABASE_URL")))
	server := stdlib.OpenDB(*cfg)
	name := "satchel_example_" + strings.ToLower(rand.Text()[:12])
	must(server.ExecContext(ctx, "CREATE DATABASE "+name))

	own := cfg.Copy()
	own.Database = name
	db = stdlib.OpenDB(*own)
	return db, func() {
		check(db.Close())
		must(server.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)"))
		check(server.Close())
	}
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
