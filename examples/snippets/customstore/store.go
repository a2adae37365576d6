package customstore

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Store implements all ports: for relays, maintenance, publishers and inboxes.
type Store struct {
	mu        sync.Mutex // guards everything below, and every Tx
	lastID    outbox.ID
	lastLease relay.LeaseID
	rows      []*row // ascending by id
	leases    map[relay.LeaseID]time.Time
	markers   map[inbox.Message]*marker
	txEnded   chan struct{} // closed and replaced at each end of a transaction
	healed    outbox.ID
}

var (
	_ relay.Store         = (*Store)(nil)
	_ maintenance.Store   = (*Store)(nil)
	_ outbox.Writer[*Tx]  = (*Store)(nil)
	_ inbox.Recorder[*Tx] = (*Store)(nil)
)

// row is an entry with what the store adds to it.
type row struct {
	outbox.Record
	state                       outbox.State
	lease                       relay.LeaseID
	publishedAt, deadLetteredAt time.Time
	lastError, errorType        string
}

// unsettled says that the row can hold back younger ones of its aggregate.
func (r *row) unsettled() bool { return r.publishedAt.IsZero() && r.deadLetteredAt.IsZero() }

// marker is a message that was recorded; by is the transaction while that is open.
type marker struct {
	by *Tx
	at time.Time
}

// New returns an empty store.
func New() *Store {
	return &Store{leases: map[relay.LeaseID]time.Time{}, markers: map[inbox.Message]*marker{}, txEnded: make(chan struct{})}
}

// Insert implements outbox.Writer. Ids are given now, rows are visible at the commit.
func (s *Store) Insert(ctx context.Context, tx *Tx, records []outbox.Record) ([]outbox.ID, error) {
	const op = "outbox.publish"
	if tx == nil {
		return nil, fault.NewInvalid("transaction", "is nil")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := tx.usable(ctx, op); err != nil {
		return nil, err
	}
	now := time.Now()
	ids := make([]outbox.ID, len(records))
	for i, r := range records {
		s.lastID++
		r.ID, r.CreatedAt, ids[i] = s.lastID, now, s.lastID
		// What is due in the past would lie behind what a relay has looked at already.
		if r.AvailableAt.Before(now) {
			r.AvailableAt = now
		}
		tx.rows = append(tx.rows, &row{Record: copied(r), state: outbox.Pending})
	}
	return ids, nil
}

// Record implements inbox.Recorder: of two transactions with one message the second waits.
// Unlike a database it does not notice two that wait for each other.
func (s *Store) Record(ctx context.Context, tx *Tx, m inbox.Message) (isNew bool, err error) {
	const op = "inbox.record"
	if tx == nil {
		return false, fault.NewInvalid("transaction", "is nil")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := tx.usable(ctx, op); err != nil {
			return false, err
		}
		held := s.markers[m]
		if held == nil {
			s.markers[m] = &marker{by: tx, at: time.Now()}
			tx.markers = append(tx.markers, m)
			return true, nil
		}
		if held.by == nil || held.by == tx {
			return false, nil
		}
		ended := s.txEnded
		s.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done(): // reported by usable
		}
		s.mu.Lock()
	}
}

// copied returns a record that shares no bytes with its caller.
func copied(r outbox.Record) outbox.Record {
	r.Payload, r.Headers, r.Metadata = bytes.Clone(r.Payload), slices.Clone(r.Headers), slices.Clone(r.Metadata)
	return r
}
