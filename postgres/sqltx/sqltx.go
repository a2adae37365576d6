// Package sqltx publishes and processes messages in transactions of database/sql,
// over any driver for PostgreSQL.
//
//	pub, err := sqltx.NewPublisher(sqltx.Config{}, outbox.Config{})
//	...
//	tx, err := db.BeginTx(ctx, nil)
//	...
//	id, err := pub.Publish(ctx, tx, outbox.Entry{...})
//	...
//	err = tx.Commit()
//
// The inbox is used in the same way: see [NewProcessor].
//
// # Guarantees
//
// Entries and markers are written by tx and by nothing else: they are there if and only if
// it commits. Publishing is one statement, for one entry as for many. What is stored is
// the same as with pgxtx, whichever driver is used; tested are pgx and lib/pq.
//
// A nil transaction is refused with a *fault.Invalid. One that has ended, that failed
// earlier or, with some drivers, that still has rows to be read gives a
// *fault.Persistence, and nothing is sent outside it.
//
// # Not guaranteed
//
// SQLSTATEs with a driver whose errors have no method SQLState() string: a failure is then
// not known to be retryable. Nor an order of commits: see [Writer.LockAggregate].
package sqltx

import (
	"context"
	"database/sql"
	"errors"

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

// Writer is the outbox.Writer for database/sql transactions. Create it with [NewWriter]; the
// zero value refuses every call.
type Writer struct{ stmt *stmt.Set }

// Recorder is the inbox.Recorder for database/sql transactions. Create it with [NewRecorder]; the
// zero value refuses every call.
type Recorder struct{ stmt *stmt.Set }

var (
	_ outbox.Writer[*sql.Tx]  = (*Writer)(nil)
	_ inbox.Recorder[*sql.Tx] = (*Recorder)(nil)
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

// NewPublisher returns a publisher for database/sql transactions, or all problems of both
// configurations joined, each a *fault.Invalid.
func NewPublisher(cfg Config, pub outbox.Config) (*outbox.Publisher[*sql.Tx], error) {
	w, err := NewWriter(cfg)
	if err := errors.Join(err, pub.Validate()); err != nil {
		return nil, err
	}
	return outbox.NewPublisher(w, pub), nil
}

// NewProcessor returns an inbox processor for database/sql transactions, or a *fault.Invalid if
// the schema is not a valid identifier.
func NewProcessor(cfg Config) (*inbox.Processor[*sql.Tx], error) {
	r, err := NewRecorder(cfg)
	if err != nil {
		return nil, err
	}
	return inbox.NewProcessor(r), nil
}

// Insert implements outbox.Writer.
func (w *Writer) Insert(ctx context.Context, tx *sql.Tx, records []outbox.Record) ([]outbox.ID, error) {
	const op = "outbox.publish"
	if w == nil || w.stmt == nil {
		return nil, authoring.NotMade("outbox writer")
	}
	if tx == nil {
		return nil, authoring.NilTx()
	}
	if len(records) == 1 {
		var id outbox.ID
		if err := tx.QueryRowContext(ctx, w.stmt.InsertOne, authoring.One(&records[0])...).Scan(&id); err != nil {
			return nil, pgerr.Wrap(op, err)
		}
		return []outbox.ID{id}, nil
	}
	rows, err := tx.QueryContext(ctx, w.stmt.Insert, authoring.Many(records)...)
	if err != nil {
		return nil, pgerr.Wrap(op, err)
	}
	ids, err := collect(rows)
	if err != nil {
		return nil, pgerr.Wrap(op, err)
	}
	return authoring.IDs(ids, len(records))
}

func collect(rows *sql.Rows) (ids []outbox.ID, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id outbox.ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Record implements inbox.Recorder.
func (r *Recorder) Record(ctx context.Context, tx *sql.Tx, m inbox.Message) (isNew bool, err error) {
	if r == nil || r.stmt == nil {
		return false, authoring.NotMade("inbox recorder")
	}
	if tx == nil {
		return false, authoring.NilTx()
	}
	var one int
	switch err := tx.QueryRowContext(ctx, r.stmt.InboxRecord, m.ID, m.Source).Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, pgerr.Wrap("inbox.record", err)
	}
	return true, nil
}

// LockAggregate waits until no other transaction holds the lock of an aggregate and
// holds it until tx ends; see pgxtx.Writer.LockAggregate.
func (w *Writer) LockAggregate(ctx context.Context, tx *sql.Tx, aggregateID string) error {
	if w == nil || w.stmt == nil {
		return authoring.NotMade("outbox writer")
	}
	if tx == nil {
		return authoring.NilTx()
	}
	if aggregateID == "" {
		return fault.NewInvalid("aggregate id", "is empty")
	}
	_, err := tx.ExecContext(ctx, w.stmt.LockAggregate, w.stmt.Outbox, aggregateID)
	return pgerr.Wrap("outbox.lockAggregate", err)
}
