package customstore

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

// Tx is a transaction of an application: what it did becomes visible when it commits.
type Tx struct {
	store   *Store
	rows    []*row
	markers []inbox.Message
	ended   bool
	failed  bool // a statement was cancelled; only a rollback helps
}

// errEnded and errFailed are the reasons for refusing a statement.
var (
	errEnded  = errors.New("the transaction has ended")
	errFailed = errors.New("an earlier statement of the transaction failed")
)

// Begin starts a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s} }

// Commit ends the transaction and keeps what it did, unless a statement failed.
func (tx *Tx) Commit() error {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if tx.ended {
		return &fault.Persistence{Op: "commit", Err: errEnded}
	}
	if tx.failed {
		tx.undo(0, 0)
		tx.end()
		return &fault.Persistence{Op: "commit", Err: errFailed}
	}
	for _, r := range tx.rows {
		tx.store.insert(r)
	}
	for _, m := range tx.markers {
		tx.store.markers[m].by = nil
	}
	tx.end()
	return nil
}

// Rollback ends the transaction without a trace. After its end it does nothing.
func (tx *Tx) Rollback() {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if !tx.ended {
		tx.undo(0, 0)
		tx.end()
	}
}

// Savepoint marks the present state and returns the way back to it.
func (tx *Tx) Savepoint() (undo func()) {
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	rows, markers := len(tx.rows), len(tx.markers)
	return func() {
		tx.store.mu.Lock()
		defer tx.store.mu.Unlock()
		tx.undo(rows, markers)
		tx.failed = false
	}
}

// undo forgets what was done after a point.
func (tx *Tx) undo(rows, markers int) {
	for _, m := range tx.markers[markers:] {
		delete(tx.store.markers, m)
	}
	tx.rows, tx.markers = tx.rows[:rows], tx.markers[:markers]
	tx.store.wake()
}

func (tx *Tx) end() {
	tx.ended = true
	tx.store.wake()
}

// wake lets those look again who wait for a marker.
func (s *Store) wake() {
	close(s.txEnded)
	s.txEnded = make(chan struct{})
}

// usable says why a statement cannot be run.
func (tx *Tx) usable(ctx context.Context, op string) error {
	switch {
	case tx.ended:
		return &fault.Persistence{Op: op, Err: errEnded}
	case tx.failed:
		return &fault.Persistence{Op: op, Err: errFailed}
	case ctx.Err() != nil:
		tx.failed = true
		return cancelled(ctx, op)
	}
	return nil
}

// cancelled is the error of a call whose context has ended; the same call may succeed later.
func cancelled(ctx context.Context, op string) error {
	return &fault.Persistence{Op: op, Transient: true, Err: context.Cause(ctx)}
}
