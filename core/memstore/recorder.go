package memstore

import (
	"context"
	"errors"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

// marker says that a message was recorded.
type marker struct {
	tx    *Tx           // nil once committed
	ended chan struct{} // closed when tx committed or gave the marker up
	at    time.Time
}

func (m *marker) commit() {
	m.tx = nil
	close(m.ended)
}

// Record implements inbox.Recorder. While another transaction that recorded the same
// message is open it waits until that one ends, gives the marker up by rolling back to
// a savepoint, or ctx ends. Two transactions that would wait for each other do not:
// the second gets a retryable error with SQLSTATE 40P01.
func (s *Store) Record(ctx context.Context, tx *Tx, m inbox.Message) (bool, error) {
	const op = "inbox.record"
	for {
		if err := s.enter(ctx, tx, op); err != nil {
			return false, err
		}
		tx.waiting = nil
		held := s.markers[m]
		if held == nil {
			s.markers[m] = &marker{tx: tx, ended: make(chan struct{}), at: time.Now()}
			tx.markers = append(tx.markers, m)
			s.mu.Unlock()
			return true, nil
		}
		if held.tx == nil || held.tx == tx {
			s.mu.Unlock()
			return false, nil
		}
		if held.tx.waitsFor(tx) {
			tx.failed = true
			s.mu.Unlock()
			return false, &fault.Persistence{Op: op, Code: codeDeadlock, Transient: true, Err: errors.New("deadlock detected")}
		}
		tx.waiting = held.tx
		s.mu.Unlock()
		select {
		case <-held.ended:
		case <-ctx.Done():
			// The next round reports it, and fails the transaction.
		}
	}
}

// waitsFor reports whether tx waits, directly or through others, for another's end.
func (tx *Tx) waitsFor(other *Tx) bool {
	for ; tx != nil; tx = tx.waiting {
		if tx == other {
			return true
		}
	}
	return false
}
