package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that the migrator is given

	"github.com/satchel-go/satchel/schema/migrator"
)

//go:embed tables.sql
var tables string

// database is one that newDatabase made.
type database struct {
	name   string
	dsn    string
	server string
}

// newDatabase creates a database of its own on the given server, with satchel's schema
// and the demonstration's tables.
func newDatabase(ctx context.Context, server string) (db database, err error) {
	db = database{name: "orders_demo_" + strings.ToLower(rand.Text()[:10]), server: server}
	if db.dsn, err = withDatabase(server, db.name); err != nil {
		return database{}, err
	}
	if err := execute(ctx, server, "CREATE DATABASE "+db.name); err != nil {
		return database{}, fmt.Errorf("creating the database: %w", err)
	}
	if err := migrate(ctx, db.dsn); err != nil {
		return database{}, errors.Join(err, db.remove(ctx))
	}
	return db, nil
}

// remove drops the database, also when ctx has ended and whoever is still connected.
func (db database) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return execute(ctx, db.server, "DROP DATABASE "+db.name+" WITH (FORCE)")
}

func migrate(ctx context.Context, dsn string) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := migrator.Apply(ctx, db, migrator.Config{}); err != nil {
		return err
	}
	return execute(ctx, dsn, tables)
}

func execute(ctx context.Context, dsn, statements string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statements)
	return err
}

// withDatabase points a connection string, of either form, to another database.
func withDatabase(dsn, name string) (string, error) {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name, nil // of two settings the later counts
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the database URL cannot be read") // the cause would quote a password
	}
	u.Path = "/" + name
	return u.String(), nil
}
