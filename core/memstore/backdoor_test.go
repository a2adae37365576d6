package memstore

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// Backdoor is the storetest.Table of a store.
type Backdoor struct{ Store *Store }

// Rows implements storetest.Table.
func (b Backdoor) Rows(context.Context) ([]storetest.Row, error) {
	var out []storetest.Row
	for _, r := range b.Store.Rows() {
		out = append(out, storetest.Row{
			Record: r.Record, State: r.State, Lease: r.Lease, PublishedAt: r.PublishedAt,
			DeadLetteredAt: r.DeadLetteredAt, LastError: r.LastError, ErrorType: r.ErrorType, Archived: r.Archived,
		})
	}
	return out, nil
}

// Age implements storetest.Table.
func (b Backdoor) Age(_ context.Context, by time.Duration, ids ...outbox.ID) error {
	b.Store.mu.Lock()
	defer b.Store.mu.Unlock()
	for _, id := range ids {
		r := b.Store.rows[id]
		if r == nil {
			return fmt.Errorf("entry %d is not in the table", id)
		}
		for _, at := range []*time.Time{
			&r.AvailableAt, &r.ScheduledAt, &r.CreatedAt, &r.claimedAt, &r.publishedAt, &r.deadLetteredAt, &r.updatedAt,
		} {
			if !at.IsZero() {
				*at = at.Add(-by)
			}
		}
	}
	return nil
}

// AgeLeases implements storetest.Table.
func (b Backdoor) AgeLeases(_ context.Context, by time.Duration, leases ...relay.LeaseID) error {
	b.Store.mu.Lock()
	defer b.Store.mu.Unlock()
	for _, id := range leases {
		if l := b.Store.leases[id]; l != nil {
			l.expires = l.expires.Add(-by)
		}
	}
	return nil
}

// AgeInbox implements storetest.Table.
func (b Backdoor) AgeInbox(_ context.Context, by time.Duration) error {
	b.Store.mu.Lock()
	defer b.Store.mu.Unlock()
	for _, m := range b.Store.markers {
		m.at = m.at.Add(-by)
	}
	return nil
}

// Break implements storetest.Table.
func (b Backdoor) Break(_ context.Context, id outbox.ID, how storetest.Damage) error {
	b.Store.mu.Lock()
	defer b.Store.mu.Unlock()
	r := b.Store.rows[id]
	r.state, r.lease = outbox.Processing, 0
	switch how {
	case storetest.UnmarkedPublished:
		r.state = outbox.Published
	case storetest.UnmarkedDeadLetter:
		r.state = outbox.DeadLetter
	case storetest.LoseLease:
	}
	return nil
}
