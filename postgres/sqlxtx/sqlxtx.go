// Package sqlxtx publishes and processes messages in transactions of sqlx. It is
// sqltx with the transaction's type: passing a transaction of another library does not
// compile.
//
//	pub, err := sqlxtx.NewPublisher(sqlxtx.Config{}, outbox.Config{})
//	...
//	tx, err := db.BeginTxx(ctx, nil)
//	...
//	id, err := pub.Publish(ctx, tx, outbox.Entry{...})
//	...
//	err = tx.Commit()
package sqlxtx

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

// Config places the tables. The zero value uses those that the search_path finds.
type Config = sqltx.Config

// Writer is the outbox.Writer for sqlx transactions.
type Writer struct{ plain *sqltx.Writer }

// Recorder is the inbox.Recorder for sqlx transactions.
type Recorder struct{ plain *sqltx.Recorder }

var (
	_ outbox.Writer[*sqlx.Tx]  = (*Writer)(nil)
	_ inbox.Recorder[*sqlx.Tx] = (*Recorder)(nil)
)

// NewWriter returns a writer; it fails only if the schema is not a valid identifier.
func NewWriter(cfg Config) (*Writer, error) {
	plain, err := sqltx.NewWriter(cfg)
	return &Writer{plain: plain}, err
}

// NewRecorder returns a recorder; it fails only if the schema is not a valid identifier.
func NewRecorder(cfg Config) (*Recorder, error) {
	plain, err := sqltx.NewRecorder(cfg)
	return &Recorder{plain: plain}, err
}

// NewPublisher returns a publisher for sqlx transactions.
func NewPublisher(cfg Config, pub outbox.Config) (*outbox.Publisher[*sqlx.Tx], error) {
	w, err := NewWriter(cfg)
	if err != nil {
		return nil, err
	}
	return outbox.NewPublisher(w, pub), nil
}

// NewProcessor returns an inbox processor for sqlx transactions.
func NewProcessor(cfg Config) (*inbox.Processor[*sqlx.Tx], error) {
	r, err := NewRecorder(cfg)
	if err != nil {
		return nil, err
	}
	return inbox.NewProcessor(r), nil
}

// Insert implements outbox.Writer.
func (w *Writer) Insert(ctx context.Context, tx *sqlx.Tx, records []outbox.Record) ([]outbox.ID, error) {
	return w.plain.Insert(ctx, inner(tx), records)
}

// Record implements inbox.Recorder.
func (r *Recorder) Record(ctx context.Context, tx *sqlx.Tx, m inbox.Message) (isNew bool, err error) {
	return r.plain.Record(ctx, inner(tx), m)
}

// LockAggregate waits until no other transaction holds the lock of an aggregate and
// holds it until tx ends; see pgxtx.Writer.LockAggregate.
func (w *Writer) LockAggregate(ctx context.Context, tx *sqlx.Tx, aggregateID string) error {
	return w.plain.LockAggregate(ctx, inner(tx), aggregateID)
}

func inner(tx *sqlx.Tx) *sql.Tx {
	if tx == nil {
		return nil
	}
	return tx.Tx
}
