package main

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/inbox"
)

// consumer applies messages once each, however often they arrive and whatever brings them.
type consumer struct {
	pool      *pgxpool.Pool
	processor *inbox.Processor[pgx.Tx]
	logger    *slog.Logger
}

func newConsumer(pool *pgxpool.Pool, logger *slog.Logger) (*consumer, error) {
	recorder, err := newRecorder()
	if err != nil {
		return nil, err
	}
	return &consumer{pool: pool, processor: inbox.NewProcessor(counting{recorder}), logger: logger}, nil
}

// inTx runs fn in a transaction, as the receiving sides of the adapters ask for it.
func (c *consumer) inTx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error { return fn(ctx, tx) })
}

// once records the message in the inbox and applies the event in the same transaction.
// The receivers for Kafka and webhooks do this themselves.
func (c *consumer) once(ctx context.Context, m inbox.Message, name string, e OrderEvent) error {
	return c.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := c.processor.Once(ctx, tx, m, func(ctx context.Context) error { return c.apply(ctx, tx, name, e) })
		return err
	})
}

// apply is the consumer's work.
func (c *consumer) apply(ctx context.Context, tx pgx.Tx, name string, e OrderEvent) error {
	// In order means: every earlier event of this order has been applied, and no other.
	const insert = `INSERT INTO applied (order_id, seq, destination, in_order)
		SELECT $1, $2, $3, (SELECT count(*) = $2 - 1 AND coalesce(max(seq), 0) = $2 - 1 FROM applied WHERE order_id = $1)`
	_, err := tx.Exec(ctx, insert, e.OrderID, e.Seq, name)
	return err
}

// counting is a recorder that also notes the messages it has seen before.
type counting struct{ inbox.Recorder[pgx.Tx] }

// Record implements inbox.Recorder.
func (c counting) Record(ctx context.Context, tx pgx.Tx, m inbox.Message) (bool, error) {
	isNew, err := c.Recorder.Record(ctx, tx, m)
	if err == nil && !isNew {
		_, err = tx.Exec(ctx, insertDuplicate, m.ID, byInbox)
	}
	return isNew, err
}

const insertDuplicate = `INSERT INTO duplicates (message_id, dropped_by) VALUES ($1, $2)`
