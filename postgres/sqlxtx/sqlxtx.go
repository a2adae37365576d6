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
//
// Guarantees, errors and limits are those of package sqltx.
package sqlxtx

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

// Config places the tables. The zero value uses those that the search_path finds.
type Config = sqltx.Config

// Writer is the outbox.Writer for sqlx transactions. Create it with [NewWriter]; the
// zero value refuses every call.
type Writer struct{ plain *sqltx.Writer }

// Recorder is the inbox.Recorder for sqlx transactions. Create it with [NewRecorder]; the
// zero value refuses every call.
type Recorder struct{ plain *sqltx.Recorder }

var (
	_ outbox.Writer[*sqlx.Tx]  = (*Writer)(nil)
	_ inbox.Recorder[*sqlx.Tx] = (*Recorder)(nil)
)

// NewWriter returns a writer, or a *fault.Invalid if the schema is not a valid identifier.
func NewWriter(cfg Config) (*Writer, error) {
	plain, err := sqltx.NewWriter(cfg)
	if err != nil {
		return nil, err
	}
	return &Writer{plain: plain}, nil
}

// NewRecorder returns a recorder, or a *fault.Invalid if the schema is not a valid identifier.
func NewRecorder(cfg Config) (*Recorder, error) {
	plain, err := sqltx.NewRecorder(cfg)
	if err != nil {
		return nil, err
	}
	return &Recorder{plain: plain}, nil
}

// NewPublisher returns a publisher for sqlx transactions, or all problems of both
// configurations joined, each a *fault.Invalid.
func NewPublisher(cfg Config, pub outbox.Config) (*outbox.Publisher[*sqlx.Tx], error) {
	w, err := NewWriter(cfg)
	if err := errors.Join(err, pub.Validate()); err != nil {
		return nil, err
	}
	return outbox.NewPublisher(w, pub), nil
}

// NewProcessor returns an inbox processor for sqlx transactions, or a *fault.Invalid if
// the schema is not a valid identifier.
func NewProcessor(cfg Config) (*inbox.Processor[*sqlx.Tx], error) {
	r, err := NewRecorder(cfg)
	if err != nil {
		return nil, err
	}
	return inbox.NewProcessor(r), nil
}

// Insert implements outbox.Writer.
func (w *Writer) Insert(ctx context.Context, tx *sqlx.Tx, records []outbox.Record) ([]outbox.ID, error) {
	return w.sql().Insert(ctx, inner(tx), records)
}

// Record implements inbox.Recorder.
func (r *Recorder) Record(ctx context.Context, tx *sqlx.Tx, m inbox.Message) (isNew bool, err error) {
	return r.sql().Record(ctx, inner(tx), m)
}

// LockAggregate waits until no other transaction holds the lock of an aggregate and
// holds it until tx ends; see pgxtx.Writer.LockAggregate.
func (w *Writer) LockAggregate(ctx context.Context, tx *sqlx.Tx, aggregateID string) error {
	return w.sql().LockAggregate(ctx, inner(tx), aggregateID)
}

// sql returns the writer that does the work, which refuses if it is nil.
func (w *Writer) sql() *sqltx.Writer {
	if w == nil {
		return nil
	}
	return w.plain
}

// sql returns the recorder that does the work, which refuses if it is nil.
func (r *Recorder) sql() *sqltx.Recorder {
	if r == nil {
		return nil
	}
	return r.plain
}

func inner(tx *sqlx.Tx) *sql.Tx {
	if tx == nil {
		return nil
	}
	return tx.Tx
}
