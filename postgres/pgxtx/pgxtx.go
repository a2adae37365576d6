// Package pgxtx publishes and processes messages in transactions of pgx.
//
//	pub, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
//	...
//	tx, err := pool.Begin(ctx)
//	...
//	id, err := pub.Publish(ctx, tx, outbox.Entry{...})
//	...
//	err = tx.Commit(ctx)
//
// The inbox is used in the same way: see [NewProcessor].
//
// # Guarantees
//
// Entries and markers are written by tx and by nothing else: they are there if and only if
// it commits, and no connection of the pool is used beside it. Publishing is one statement,
// for one entry as for many. Every query mode of pgx works and stores the same. pgx.Tx
// values of Begin on a transaction (savepoints) are fine.
//
// A nil transaction is refused with a *fault.Invalid. One that has ended, that still has
// rows to be read, or that failed earlier gives a *fault.Persistence, and nothing is sent
// outside it.
//
// # Not guaranteed
//
// That the ids of transactions which are open at the same time follow the order of their
// commits; where that matters for an aggregate, take its lock first: see
// [Writer.LockAggregate].
package pgxtx

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/internal/authoring"
	"github.com/satchel-go/satchel/postgres/internal/pgerr"
	"github.com/satchel-go/satchel/postgres/internal/stmt"
)

// Config places the tables. The zero value uses those that the search_path finds.
type Config struct {
	// Schema is the schema of the tables, see postgres.Config.
	Schema string
}

// Writer is the outbox.Writer for pgx transactions. Create it with [NewWriter]; the
// zero value refuses every call.
type Writer struct{ stmt *stmt.Set }

// Recorder is the inbox.Recorder for pgx transactions. Create it with [NewRecorder]; the
// zero value refuses every call.
type Recorder struct{ stmt *stmt.Set }

var (
	_ outbox.Writer[pgx.Tx]  = (*Writer)(nil)
	_ inbox.Recorder[pgx.Tx] = (*Recorder)(nil)
)

// NewWriter returns a writer, or a *fault.Invalid if the schema is not a valid identifier.
func NewWriter(cfg Config) (*Writer, error) {
	set, err := stmt.Load(cfg.Schema)
	if err != nil {
		return nil, err
	}
	return &Writer{stmt: set}, nil
}

// NewRecorder returns a recorder, or a *fault.Invalid if the schema is not a valid identifier.
func NewRecorder(cfg Config) (*Recorder, error) {
	set, err := stmt.Load(cfg.Schema)
	if err != nil {
		return nil, err
	}
	return &Recorder{stmt: set}, nil
}

// NewPublisher returns a publisher for pgx transactions, or all problems of both
// configurations joined, each a *fault.Invalid.
func NewPublisher(cfg Config, pub outbox.Config) (*outbox.Publisher[pgx.Tx], error) {
	w, err := NewWriter(cfg)
	if err := errors.Join(err, pub.Validate()); err != nil {
		return nil, err
	}
	return outbox.NewPublisher(w, pub), nil
}

// NewProcessor returns an inbox processor for pgx transactions, or a *fault.Invalid if
// the schema is not a valid identifier.
func NewProcessor(cfg Config) (*inbox.Processor[pgx.Tx], error) {
	r, err := NewRecorder(cfg)
	if err != nil {
		return nil, err
	}
	return inbox.NewProcessor(r), nil
}

// Insert implements outbox.Writer.
func (w *Writer) Insert(ctx context.Context, tx pgx.Tx, records []outbox.Record) ([]outbox.ID, error) {
	const op = "outbox.publish"
	if w == nil || w.stmt == nil {
		return nil, authoring.NotMade("outbox writer")
	}
	if isNil(tx) {
		return nil, authoring.NilTx()
	}
	if len(records) == 1 {
		var id outbox.ID
		if err := tx.QueryRow(ctx, w.stmt.InsertOne, authoring.One(&records[0])...).Scan(&id); err != nil {
			return nil, pgerr.Wrap(op, err)
		}
		return []outbox.ID{id}, nil
	}
	rows, err := tx.Query(ctx, w.stmt.Insert, authoring.Many(records)...)
	if err != nil {
		return nil, pgerr.Wrap(op, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[outbox.ID])
	if err != nil {
		return nil, pgerr.Wrap(op, err)
	}
	return authoring.IDs(ids, len(records))
}

// Record implements inbox.Recorder.
func (r *Recorder) Record(ctx context.Context, tx pgx.Tx, m inbox.Message) (isNew bool, err error) {
	if r == nil || r.stmt == nil {
		return false, authoring.NotMade("inbox recorder")
	}
	if isNil(tx) {
		return false, authoring.NilTx()
	}
	var one int
	switch err := tx.QueryRow(ctx, r.stmt.InboxRecord, m.ID, m.Source).Scan(&one); {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, pgerr.Wrap("inbox.record", err)
	}
	return true, nil
}

// LockAggregate waits until no other transaction holds the lock of an aggregate and
// holds it until tx ends. When every publisher of an aggregate takes it before it
// publishes, the order of the entries' ids is the order of their commits, so that a
// late commit can not put an entry before one that was delivered already. It costs a
// round trip and makes these publishers wait for each other.
func (w *Writer) LockAggregate(ctx context.Context, tx pgx.Tx, aggregateID string) error {
	if w == nil || w.stmt == nil {
		return authoring.NotMade("outbox writer")
	}
	if isNil(tx) {
		return authoring.NilTx()
	}
	if aggregateID == "" {
		return fault.NewInvalid("aggregate id", "is empty")
	}
	_, err := tx.Exec(ctx, w.stmt.LockAggregate, w.stmt.Outbox, aggregateID)
	return pgerr.Wrap("outbox.lockAggregate", err)
}

// isNil also catches a nil pointer in the interface.
func isNil(tx pgx.Tx) bool {
	if tx == nil {
		return true
	}
	v := reflect.ValueOf(tx)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
