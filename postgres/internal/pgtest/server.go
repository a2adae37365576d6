package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/schema"
)

// Mapped is the schema of the second set of tables: it needs quotes, and case matters.
const Mapped = `Sat"chel mapped`

// server is what a process keeps on the test server.
var server struct {
	once     sync.Once
	err      error
	prefix   string
	template string

	mu      sync.Mutex
	count   int
	free    []string // emptied copies
	created []string // everything to be dropped
}

const startTimeout = 2 * time.Minute

// Config returns the connection options of the test server itself.
func Config(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	address := os.Getenv("SATCHEL_DATABASE_URL")
	if address == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run the tests by make test, which starts a server")
	}
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal("SATCHEL_DATABASE_URL cannot be parsed")
	}
	return cfg
}

// admin runs a statement on the server's own database.
func admin(ctx context.Context, cfg *pgx.ConnConfig, sql string) error {
	conn, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// create makes a database, remembered for removal; template is empty or a name.
func create(ctx context.Context, cfg *pgx.ConnConfig, template string) (string, error) {
	server.mu.Lock()
	server.count++
	name := fmt.Sprintf("%s_%d", server.prefix, server.count)
	server.created = append(server.created, name)
	server.mu.Unlock()
	sql := "CREATE DATABASE " + name
	if template != "" {
		sql += " TEMPLATE " + template
	}
	return name, admin(ctx, cfg, sql)
}

// start makes the template once per process.
func start(cfg *pgx.ConnConfig) error {
	server.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		server.prefix = "satchel_pg_" + strings.ToLower(rand.Text()[:12])
		if server.template, server.err = create(ctx, cfg, ""); server.err != nil {
			return
		}
		for _, schemaName := range []string{"public", Mapped} {
			if server.err = migrate(ctx, cfg, server.template, schemaName); server.err != nil {
				return
			}
		}
	})
	return server.err
}

// migrate runs the migration files, in the order of their names.
func migrate(ctx context.Context, cfg *pgx.ConnConfig, database, schemaName string) error {
	cfg = cfg.Copy()
	cfg.Database = database
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	quoted := pgx.Identifier{schemaName}.Sanitize()
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+quoted+"; SET search_path TO "+quoted); err != nil {
		return err
	}
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(schema.Migrations(), name)
		if err != nil {
			return err
		}
		sql := string(text)
		if !strings.Contains(sql, "atlas:txmode none") { // those hold one statement that refuses a transaction
			sql = "BEGIN;\n" + sql + "\nCOMMIT;"
		}
		if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// stop drops every database of the process.
func stop() error {
	address := os.Getenv("SATCHEL_DATABASE_URL")
	if address == "" {
		return nil
	}
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, name := range server.created {
		if err := admin(ctx, cfg, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}
