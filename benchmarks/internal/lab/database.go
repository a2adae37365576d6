// Package lab prepares databases for measurements: creating them, bringing them to a
// version of the schema, filling tables, and reading the server's counters.
package lab

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/schema"
)

// Versions of the schema, in order.
const (
	V1 = iota + 1 // the tables as other tools may have made them
	V2            // leases, relays and HOT claims
	V3            // the archive and raw payloads
)

// versions are the first digits of the migrations of each version.
var versions = map[string]int{"20260101": V1, "20260201": V2, "20260301": V3}

// Database is a database of its own on the server that is measured.
type Database struct {
	// URL is the database's.
	URL string

	name  string
	admin string
}

// Create makes a database with a random name. The caller closes it.
func Create(ctx context.Context, serverURL string) (*Database, error) {
	u, err := url.Parse(serverURL)
	if err != nil {
		return nil, fmt.Errorf("the server's URL cannot be read")
	}
	name := "bench_" + strings.ToLower(rand.Text()[:12])
	conn, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	u.Path = "/" + name
	return &Database{URL: u.String(), name: name, admin: serverURL}, nil
}

// Close drops the database, with whatever is still connected to it.
func (d *Database) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	conn, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)")
	return err
}

// Pool connects to the database with at most n connections.
func (d *Database) Pool(ctx context.Context, n int) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = int32(n)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Migrate applies the migrations up to and including a version. It runs the files as
// they are; package migrator, which an application would use, asks for Atlas.
func Migrate(ctx context.Context, conn *pgx.Conn, version int) error {
	files, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil {
		return err
	}
	for _, name := range files { // sorted by name
		if v, known := versions[name[:8]]; !known {
			return fmt.Errorf("migration %s belongs to no version that is measured", name)
		} else if v > version {
			continue
		}
		text, err := fs.ReadFile(schema.Migrations(), name)
		if err != nil {
			return err
		}
		script := string(text)
		if !strings.Contains(script, "atlas:txmode none") {
			script = "BEGIN;\n" + script + "\nCOMMIT;"
		}
		if _, err := conn.PgConn().Exec(ctx, script).ReadAll(); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
	}
	return nil
}
