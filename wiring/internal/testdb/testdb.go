// Package testdb gives tests of this module a migrated database of their own on the server
// that SATCHEL_DATABASE_URL names.
package testdb

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/migrationonly"
)

// Patience bounds every wait of the tests.
const Patience = time.Minute

// Empty makes a database, removed when the test ends, and returns its URL.
func Empty(t testing.TB) wiring.Secret {
	t.Helper()
	server := os.Getenv("SATCHEL_DATABASE_URL")
	if server == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run the tests by make test, which starts a server")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("SATCHEL_DATABASE_URL is not a URL")
	}
	name := "satchel_wiring_" + strings.ToLower(rand.Text()[:12])
	execute(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return wiring.Secret(u.String())
}

// New is [Empty] with the tables placed as the tree says.
func New(t testing.TB, tree config.Tree) wiring.Secret {
	t.Helper()
	address := Empty(t)
	migration, cleanup, err := migrationonly.New(tree, wiring.Inputs{Database: wiring.Database{URL: address}})
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := migration.Apply(ctx); err != nil {
		t.Fatalf("migrate the test database: %v", err)
	}
	return address
}

func execute(t testing.TB, address, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal("the server of SATCHEL_DATABASE_URL does not answer")
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%.60s: %v", sql, err)
	}
}
