package postgrestest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of SQL and of the migrations

	"github.com/satchel-go/satchel/schema/migrator"
)

// patience bounds everything that is done before and after a test.
const patience = 2 * time.Minute

// insufficientPrivilege is the SQLSTATE of a role that may not do what it asked for.
const insufficientPrivilege = "42501"

// Database is what one test got.
type Database struct {
	// URL connects to it; the tables are found without a schema's name.
	URL string
	// Name is the name of the database, or of the schema if Shared.
	Name string
	// Shared says that the role may not create databases, and the test got a schema in the
	// given one.
	Shared bool
	// Server says which server it is: its version and where it came from.
	Server string
}

// New makes a database with the newest tables for one test and removes it when the test
// ends. Without a server, or with one that refuses, it fails the test at once.
func New(t testing.TB) *Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	address, line, err := address(ctx)
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	d := &Database{Name: freshName(), Server: line}
	t.Log("postgrestest: " + line)
	err = d.create(ctx, address)
	t.Cleanup(func() { // also of what was only begun
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := execute(ctx, address, d.removal()); err != nil {
			t.Errorf("postgrestest: remove %s: %v", d.Name, err)
		}
	})
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	return d
}

// create makes the database, as a copy if there is something to copy, or else the schema.
func (d *Database) create(ctx context.Context, server string) (err error) {
	template, err := templateDatabase(ctx, server)
	if err == nil {
		statement := "CREATE DATABASE " + d.Name
		if template != "" {
			statement += " TEMPLATE " + template
		}
		err = execute(ctx, server, statement)
	}
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == insufficientPrivilege:
		d.Shared = true
		if err := execute(ctx, server, "CREATE SCHEMA "+d.Name); err != nil {
			return fmt.Errorf("the role may create neither databases nor schemas: %w", err)
		}
		d.URL, err = withSetting(server, "search_path", d.Name)
	case err != nil:
		return fmt.Errorf("create a database: %w", err)
	default:
		d.URL, err = withDatabase(server, d.Name)
	}
	if err != nil || template != "" && !d.Shared {
		return err
	}
	return migrate(ctx, d.URL)
}

// removal returns the statement that removes what create made, or may have made.
func (d *Database) removal() string {
	if d.Shared {
		return "DROP SCHEMA IF EXISTS " + d.Name + " CASCADE"
	}
	return "DROP DATABASE IF EXISTS " + d.Name + " WITH (FORCE)"
}

// Pool returns a pool of pgx that is closed when the test ends.
func (d *Database) Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), d.URL)
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// SQL returns a pool of database/sql, over pgx, that is closed when the test ends.
func (d *Database) SQL(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", d.URL)
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func migrate(ctx context.Context, address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return migrator.Apply(ctx, db, migrator.Config{})
}

func execute(ctx context.Context, address, statement string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
