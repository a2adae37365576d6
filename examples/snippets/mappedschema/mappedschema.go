// Package mappedschema keeps the tables of satchel in a schema of their own.
package mappedschema

import (
	"context"
	"database/sql"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the migration

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/schema/migrator"

	"github.com/satchel-go/satchel/examples/snippets/internal/show"
)

// Configuration is the part of the file that places the tables. The same setting goes to
// the migration, to the store and to the publisher, so they cannot disagree.
const Configuration = `{"db": {"schemas": {"inbox-outbox": "messaging"}}}`

// Run migrates, publishes and delivers in the schema that the configuration names. The
// search_path of the connections does not matter: every statement names the schema.
func Run(ctx context.Context, url string, out io.Writer) error {
	tree, err := config.Parse([]byte(Configuration))
	if err != nil {
		return err
	}
	schema := tree.DB.Schemas.InboxOutbox

	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := migrator.Apply(ctx, db, migrator.Config{Schema: schema}); err != nil {
		return err
	}

	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{Schema: schema}, tree.Outbox())
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: 42,
		})
		return err
	})
	if err != nil {
		return err
	}

	store, err := postgres.NewStore(pool, postgres.Config{Schema: schema})
	if err != nil {
		return err
	}
	handlers := []delivery.Handler{&show.Handler{Kind: destination.Kafka, Out: out}}
	node, err := relay.New(store, handlers, tree.Relay())
	if err != nil {
		return err
	}
	_, err = node.Drain(ctx)
	return err
}
