package memstore

import (
	"context"
	"errors"
	"slices"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
)

// ErrTxDone says that a transaction was committed or rolled back before.
var ErrTxDone = errors.New("transaction has already been committed or rolled back")

// errTxFailed says that an earlier statement of the transaction failed.
var errTxFailed = errors.New("transaction is aborted by an earlier failure")

// SQLSTATEs as PostgreSQL gives them, so that code that branches on them can be
// tested with this store.
const (
	codeAborted  = "25P02"
	codeDeadlock = "40P01"
	codeCanceled = "57014"
)

// Tx is a transaction of a [Store]. End it with Commit or Rollback.
type Tx struct {
	store *Store

	// All below is guarded by the store's mutex.
	done       bool
	failed     bool
	rows       []*row
	markers    []inbox.Message
	savepoints []Savepoint
	serial     int
	waiting    *Tx // whose end an inbox record waits for
}

// Savepoint is a place in a transaction to which it can be rolled back.
type Savepoint struct {
	serial  int
	rows    int
	markers int
}

// Begin starts a transaction. It is not tied to a context and holds no goroutine.
func (s *Store) Begin() *Tx { return &Tx{store: s} }

// Commit makes the work of the transaction visible and wakes subscribers. After a
// failed statement it rolls back instead and returns an error, a *fault.Persistence;
// after the end of the transaction one that wraps [ErrTxDone].
func (tx *Tx) Commit() error {
	tx.store.mu.Lock()
	published, err := tx.commit()
	tx.store.mu.Unlock()
	if published {
		tx.store.waker.hint()
	}
	return err
}

// commit does the work of Commit under the store's mutex.
func (tx *Tx) commit() (published bool, err error) {
	const op = "tx.commit"
	if tx.done {
		return false, &fault.Persistence{Op: op, Err: ErrTxDone}
	}
	if tx.failed {
		tx.rollback(Savepoint{})
		tx.done = true
		return false, &fault.Persistence{Op: op, Code: codeAborted, Err: errTxFailed}
	}
	tx.done = true
	for _, r := range tx.rows {
		tx.store.add(r)
	}
	for _, m := range tx.markers {
		tx.store.markers[m].commit()
	}
	return len(tx.rows) > 0, nil
}

// Rollback undoes the work of the transaction. After the end of the transaction it
// returns an error that wraps [ErrTxDone] and does nothing, so it can be deferred.
func (tx *Tx) Rollback() error {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if tx.done {
		return &fault.Persistence{Op: "tx.rollback", Err: ErrTxDone}
	}
	tx.rollback(Savepoint{})
	tx.done = true
	return nil
}

// Savepoint marks the present state of the transaction.
func (tx *Tx) Savepoint() Savepoint {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	tx.serial++
	sp := Savepoint{serial: tx.serial, rows: len(tx.rows), markers: len(tx.markers)}
	tx.savepoints = append(tx.savepoints, sp)
	return sp
}

// RollbackTo undoes what was done since the savepoint, which stays usable; later
// savepoints are gone. It makes a transaction usable again whose statement failed. An
// error, a *fault.Persistence, means that the transaction or the savepoint is gone.
func (tx *Tx) RollbackTo(sp Savepoint) error {
	const op = "tx.rollbackTo"
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if tx.done {
		return &fault.Persistence{Op: op, Err: ErrTxDone}
	}
	at := slices.Index(tx.savepoints, sp)
	if at < 0 {
		tx.failed = true
		return &fault.Persistence{Op: op, Err: errors.New("savepoint does not exist")}
	}
	tx.savepoints = tx.savepoints[:at+1]
	tx.rollback(sp)
	tx.failed = false
	return nil
}

// rollback forgets rows and gives up markers from a savepoint on.
func (tx *Tx) rollback(sp Savepoint) {
	for _, m := range tx.markers[sp.markers:] {
		close(tx.store.markers[m].ended)
		delete(tx.store.markers, m)
	}
	tx.rows, tx.markers = tx.rows[:sp.rows], tx.markers[:sp.markers]
}

// enter begins a statement of tx. Without an error the store is locked afterwards, and
// the caller unlocks it.
func (s *Store) enter(ctx context.Context, tx *Tx, op string) error {
	if tx == nil {
		return fault.NewInvalid("transaction", "is nil")
	}
	if tx.store != s {
		return fault.NewInvalid("transaction", "belongs to another store")
	}
	s.mu.Lock()
	err := tx.check(ctx, op)
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

func (tx *Tx) check(ctx context.Context, op string) error {
	switch {
	case tx.done:
		return &fault.Persistence{Op: op, Err: ErrTxDone}
	case tx.failed:
		return &fault.Persistence{Op: op, Code: codeAborted, Err: errTxFailed}
	case ctx.Err() != nil:
		tx.failed = true
		return canceled(ctx, op)
	}
	return nil
}

// canceled is the error of a call whose context ended.
func canceled(ctx context.Context, op string) error {
	return &fault.Persistence{Op: op, Code: codeCanceled, Transient: true, Err: context.Cause(ctx)}
}

// nextRow draws an id and adds an invisible row to the transaction.
func (tx *Tx) nextRow(r *row) outbox.ID {
	r.ID = tx.store.nextID
	tx.store.nextID++
	tx.rows = append(tx.rows, r)
	return r.ID
}
