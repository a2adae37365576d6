package migrator

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"flag"
	"io/fs"
	"net/url"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"ariga.io/atlas/sql/migrate"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/schema"
)

var update = flag.Bool("update", false, "write catalogue.txt from a database that was just migrated")

// Versions at which a migration directory can be cut off.
const (
	version1 = "20260101000001"
	version2 = "20260201000013"
)

// ctx returns a context that fails a hanging test, generously.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// server returns the connection options of the test server.
func server(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	address := os.Getenv("SATCHEL_DATABASE_URL")
	if address == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run the tests by make test, which starts a server")
	}
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// randomName returns a name for a database or role that no other test uses.
func randomName(t *testing.T) string {
	t.Helper()
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return "satchel_schema_" + hex.EncodeToString(b)
}

// newDatabase creates a database and returns a pool on it; both go when the test ends.
func newDatabase(t *testing.T) *sql.DB {
	t.Helper()
	admin := stdlib.OpenDB(*server(t))
	name := randomName(t)
	execSQL(t, admin, `CREATE DATABASE `+name)
	cfg := server(t)
	cfg.Database = name
	db := stdlib.OpenDB(*cfg)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		// The context of the test has ended by now.
		if _, err := admin.ExecContext(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// connectAs opens a pool on db's database for a role of its own name, with extra run-time settings.
func connectAs(t *testing.T, db *sql.DB, role string, settings map[string]string) *sql.DB {
	t.Helper()
	cfg := server(t)
	cfg.Database = value[string](t, db, `SELECT current_database()`)
	if role != "" {
		cfg.User = role
	}
	for name, setting := range settings {
		cfg.RuntimeParams[name] = setting
	}
	other := stdlib.OpenDB(*cfg)
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	return other
}

// newRole creates a login role without rights; it goes when the test ends, after its database.
func newRole(t *testing.T) string {
	t.Helper()
	admin := stdlib.OpenDB(*server(t))
	name := randomName(t)
	execSQL(t, admin, `CREATE ROLE `+name+` LOGIN`)
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), `DROP ROLE `+name); err != nil {
			t.Error(err)
		}
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	return name
}

func execSQL(t *testing.T, q querier, query string, args ...any) {
	t.Helper()
	if _, err := q.ExecContext(testContext(t), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func value[T any](t *testing.T, q querier, query string, args ...any) T {
	t.Helper()
	var v T
	if err := q.QueryRowContext(testContext(t), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func apply(t *testing.T, db *sql.DB, cfg Config) {
	t.Helper()
	if err := Apply(testContext(t), db, cfg); err != nil {
		t.Fatal(err)
	}
}

// upTo returns the migrations up to and including a version, with a hash file of their own.
func upTo(t *testing.T, version string) fs.FS {
	t.Helper()
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	part := fstest.MapFS{}
	for _, name := range names {
		if name[:len(version)] > version {
			continue
		}
		text, err := fs.ReadFile(schema.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		part[name] = &fstest.MapFile{Data: text}
	}
	return rehash(t, part)
}

// rehash gives a directory the hash file that its files need.
func rehash(t *testing.T, dir fstest.MapFS) fstest.MapFS {
	t.Helper()
	mem := &migrate.MemDir{}
	for name, file := range dir {
		if err := mem.WriteFile(name, file.Data); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := mem.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sum.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	dir[migrate.HashFileName] = &fstest.MapFile{Data: text}
	return dir
}

func applyUpTo(t *testing.T, db *sql.DB, version string) {
	t.Helper()
	if err := applyFrom(testContext(t), db, Config{}, upTo(t, version)); err != nil {
		t.Fatal(err)
	}
}

// insertV1 is how a publisher of version 1 writes: it names the columns of version 1 and no others.
const insertV1 = `INSERT INTO outbox (carrier_id, aggregate_type, aggregate_id, event_type, destination,
	destination_type, payload, headers, metadata, scheduled_at, available_at, max_attempts)
	VALUES (gen_random_uuid(), 'Order', $1, 'created', 'orders', 'KAFKA', '{"n": 1}', '{"h": "v"}', '{}', NULL, now(), 20)`

// address returns the url of db's database, for a program that connects by itself.
func address(t *testing.T, db *sql.DB) string {
	t.Helper()
	parsed, err := url.Parse(os.Getenv("SATCHEL_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	parsed.Path = "/" + value[string](t, db, `SELECT current_database()`)
	return parsed.String()
}
