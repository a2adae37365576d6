package layouts

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of every test

	"github.com/satchel-go/satchel/schema/migrator"
)

//go:embed fingerprint.sql
var fingerprintQuery string

// testContext returns a context that fails a hanging test, generously.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// address returns the url of a database of the test server, with a search_path if one is given.
func address(t *testing.T, name, searchPath string) string {
	t.Helper()
	server, err := url.Parse(os.Getenv("SATCHEL_DATABASE_URL"))
	if err != nil || server.Host == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not the url of a server: run the tests by make test, which starts one")
	}
	if name != "" {
		server.Path = "/" + name
	}
	if searchPath != "" {
		query := server.Query()
		query.Set("search_path", searchPath)
		server.RawQuery = query.Encode()
	}
	return server.String()
}

func open(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// newDatabase creates a database and returns its name and a pool on it; both go when the test ends.
func newDatabase(t *testing.T) (name string, db *sql.DB) {
	t.Helper()
	admin := open(t, address(t, "", ""))
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	name = "satchel_layouts_" + hex.EncodeToString(b)
	execSQL(t, admin, `CREATE DATABASE `+name)
	t.Cleanup(func() {
		// The context of the test has ended by now.
		if _, err := admin.ExecContext(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	return name, open(t, address(t, name, ""))
}

type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
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

// waitFor polls until a query answers true.
func waitFor(t *testing.T, q querier, query string) {
	t.Helper()
	ctx := testContext(t)
	for !value[bool](t, q, query) {
		if t.Failed() {
			t.FailNow() // whatever was to make it true has ended
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("never true: %s", query)
		}
	}
}

// fingerprint describes every object of a schema, with storage parameters and privileges, which Verify leaves out.
func fingerprint(t *testing.T, db *sql.DB, schemaName string) string {
	t.Helper()
	return value[string](t, db, fingerprintQuery, schemaName)
}

// reference returns what the package migrator makes in a schema.
func reference(t *testing.T, schemaName string) string {
	t.Helper()
	_, db := newDatabase(t)
	if err := migrator.Apply(testContext(t), db, migrator.Config{Schema: schemaName}); err != nil {
		t.Fatal(err)
	}
	return fingerprint(t, db, schemaName)
}

func verify(t *testing.T, db *sql.DB, schemaName string) {
	t.Helper()
	if err := migrator.Verify(testContext(t), db, migrator.Config{Schema: schemaName}); err != nil {
		t.Error(err)
	}
}

// state returns the SQLSTATE of an error, or "". The errors of golang-migrate, by value or pointer, do not unwrap.
func state(err error) string {
	var wrapped database.Error
	var pointer *database.Error
	switch {
	case errors.As(err, &wrapped):
		err = wrapped.OrigErr
	case errors.As(err, &pointer):
		err = pointer.OrigErr
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func quote(name string) string { return `"` + name + `"` }
