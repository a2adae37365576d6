// Package takeover brings tables that another tool made to the newest version, and delivers
// what waits in them.
package takeover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the migration

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"

	"github.com/satchel-go/satchel/examples/snippets/internal/show"
)

const (
	legacy = "legacy" // the schema of the old tables
	// firstVersion is the migration whose result the old tables already are.
	firstVersion = "20260101000001"
)

// Run makes version 1 tables with an entry in them, as the old service left them, and takes
// them over.
func Run(ctx context.Context, url string, out io.Writer) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := old(ctx, db); err != nil {
		return err
	}

	// Without a baseline the tables are refused: they could be anybody's.
	err = migrator.Apply(ctx, db, migrator.Config{Schema: legacy})
	fmt.Fprintln(out, "refused:", errors.Is(err, migrator.ErrUnknownTables))
	cfg := migrator.Config{Schema: legacy, Baseline: firstVersion}
	if err := migrator.Apply(ctx, db, cfg); err != nil {
		return err
	}
	fmt.Fprintln(out, "as it should be:", migrator.Verify(ctx, db, cfg) == nil)

	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{Schema: legacy})
	if err != nil {
		return err
	}
	node, err := relay.New(store, []delivery.Handler{&show.Handler{Kind: destination.Kafka, Out: out}}, relay.Config{})
	if err != nil {
		return err
	}
	_, err = node.Drain(ctx)
	return err
}

// old does what the old tool and the old service did.
func old(ctx context.Context, db *sql.DB) error {
	files, err := fs.Glob(schema.Migrations(), firstVersion+"_*.sql")
	if err != nil {
		return err
	}
	tables, err := fs.ReadFile(schema.Migrations(), files[0])
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range []string{
		"CREATE SCHEMA " + legacy + "; SET search_path TO " + legacy,
		string(tables),
		`INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload)
		 VALUES (gen_random_uuid(), 'order.confirmed', 'orders', 'KAFKA', '{"order": 7}')`,
		"RESET search_path",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
