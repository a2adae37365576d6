package customstore

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// TestConformance is all that a store's module needs to know that it is one. What the store
// can do beyond the necessary it declares as Features.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{Features: storetest.Features{Runs: true}, New: func(*testing.T) storetest.Fixture {
		s := New()
		return storetest.Fixture{
			Store: s, Maintenance: s, Table: table{s}, NilTx: statements(s, nil),
			Begin: func(context.Context) (storetest.Tx, error) { return transaction{statements(s, s.Begin())}, nil },
		}
	}})
}

// bound is a publisher and a processor bound to a transaction.
type bound struct {
	tx        *Tx
	publisher *outbox.Publisher[*Tx]
	processor *inbox.Processor[*Tx]
}

func statements(s *Store, tx *Tx) bound {
	return bound{tx, outbox.NewPublisher[*Tx](s, outbox.Config{}), inbox.NewProcessor[*Tx](s)}
}

func (b bound) PublishAll(ctx context.Context, list ...outbox.Entry) ([]outbox.ID, error) {
	return b.publisher.PublishAll(ctx, b.tx, list...)
}

func (b bound) Once(ctx context.Context, m inbox.Message, work func(context.Context) error) (bool, error) {
	return b.processor.Once(ctx, b.tx, m, work)
}

type transaction struct{ bound }

func (t transaction) Savepoint(context.Context) (func(context.Context) error, error) {
	undo := t.tx.Savepoint()
	return func(context.Context) error { undo(); return nil }, nil
}

func (t transaction) Commit(context.Context) error { return t.tx.Commit() }

func (t transaction) Rollback(context.Context) error {
	t.tx.Rollback()
	return nil
}

// table looks into the store, and makes it older.
type table struct{ *Store }

func (t table) Rows(context.Context) (out []storetest.Row, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.rows {
		out = append(out, storetest.Row{
			Record: copied(r.Record), State: r.state, Lease: r.lease, PublishedAt: r.publishedAt,
			DeadLetteredAt: r.deadLetteredAt, LastError: r.lastError, ErrorType: r.errorType,
		})
	}
	return out, nil
}

func (t table) Age(_ context.Context, by time.Duration, ids ...outbox.ID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		r := t.find(id)
		for _, at := range []*time.Time{&r.AvailableAt, &r.ScheduledAt, &r.CreatedAt, &r.publishedAt, &r.deadLetteredAt} {
			if !at.IsZero() {
				*at = at.Add(-by)
			}
		}
	}
	return nil
}

func (t table) AgeLeases(_ context.Context, by time.Duration, leases ...relay.LeaseID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range leases {
		if expires, held := t.leases[id]; held {
			t.leases[id] = expires.Add(-by)
		}
	}
	return nil
}

func (t table) AgeInbox(_ context.Context, by time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.markers {
		m.at = m.at.Add(-by)
	}
	return nil
}

func (t table) Break(_ context.Context, id outbox.ID, how storetest.Damage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.find(id)
	r.state, r.lease = map[storetest.Damage]outbox.State{
		storetest.LoseLease: outbox.Processing, storetest.UnmarkedPublished: outbox.Published, storetest.UnmarkedDeadLetter: outbox.DeadLetter,
	}[how], 0
	return nil
}
