// Package sqlxpublisher publishes in a transaction of sqlx.
package sqlxpublisher

import (
	"context"
	"fmt"
	"io"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/sqlxtx"
)

type order struct {
	ID    string `db:"id" json:"id"`
	Cents int64  `db:"cents" json:"cents"`
}

// Run confirms orders, one transaction for all of them and their entries.
func Run(ctx context.Context, url string, out io.Writer) error {
	db, err := sqlx.ConnectContext(ctx, "postgres", url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	publisher, err := sqlxtx.NewPublisher(sqlxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders (id text PRIMARY KEY, cents bigint NOT NULL)"); err != nil {
		return err
	}

	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	orders := []order{{"order-1", 1999}, {"order-2", 500}}
	if _, err := tx.NamedExecContext(ctx, "INSERT INTO orders (id, cents) VALUES (:id, :cents)", orders); err != nil {
		return err
	}
	entries := make([]outbox.Entry, len(orders))
	for i, o := range orders {
		entries[i] = outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: "order.confirmed", AggregateID: o.ID, Payload: o,
		}
	}
	ids, err := publisher.PublishAll(ctx, tx, entries...) // one statement
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Fprintln(out, "entries:", len(ids), "in the order given:", ids[0] < ids[1])
	return nil
}
