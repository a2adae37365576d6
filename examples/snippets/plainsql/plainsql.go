// Package plainsql publishes in a transaction of database/sql.
package plainsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	_ "github.com/jackc/pgx/v5/stdlib" // any driver for PostgreSQL will do

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

// Run confirms two orders; the second transaction rolls back, and with it its entry.
func Run(ctx context.Context, url string, out io.Writer) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	publisher, err := sqltx.NewPublisher(sqltx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders (id text PRIMARY KEY)"); err != nil {
		return err
	}

	confirm := func(order string, then error) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after a commit
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders VALUES ($1)", order); err != nil {
			return err
		}
		_, err = publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: "order.confirmed", AggregateType: "Order", AggregateID: order,
			Payload: map[string]string{"order": order},
		})
		if err := errors.Join(err, then); err != nil {
			return err
		}
		return tx.Commit()
	}
	fmt.Fprintln(out, "order-1:", confirm("order-1", nil))
	fmt.Fprintln(out, "order-2:", confirm("order-2", errors.New("out of stock")))

	var orders, entries int
	err = db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM outbox)").Scan(&orders, &entries)
	fmt.Fprintln(out, "orders:", orders, "entries:", entries)
	return err
}
