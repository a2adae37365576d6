package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/storetest"
)

// Transaction is a transaction of the store under test, as the suite wants it.
type Transaction struct {
	*memstore.Tx
	store *memstore.Store
}

// PublishAll implements storetest.Statements.
func (t Transaction) PublishAll(ctx context.Context, list ...outbox.Entry) ([]outbox.ID, error) {
	return memstore.NewPublisher(t.store, outbox.Config{}).PublishAll(ctx, t.Tx, list...)
}

// Once implements storetest.Statements.
func (t Transaction) Once(ctx context.Context, m inbox.Message, work func(context.Context) error) (bool, error) {
	return memstore.NewProcessor(t.store).Once(ctx, t.Tx, m, work)
}

// Savepoint implements storetest.Tx.
func (t Transaction) Savepoint(context.Context) (func(context.Context) error, error) {
	sp := t.Tx.Savepoint()
	return func(context.Context) error { return t.RollbackTo(sp) }, nil
}

// Commit implements storetest.Tx.
func (t Transaction) Commit(context.Context) error { return t.Tx.Commit() }

// Rollback implements storetest.Tx.
func (t Transaction) Rollback(context.Context) error { return t.Tx.Rollback() }

// Table reads the rows. A real one has the other methods too: with SQL each is an UPDATE.
type Table struct {
	storetest.Table
	store *memstore.Store
}

// Rows implements storetest.Table.
func (t Table) Rows(context.Context) (all []storetest.Row, err error) {
	for _, r := range t.store.Rows() {
		all = append(all, storetest.Row{
			Record: r.Record, State: r.State, Lease: r.Lease, PublishedAt: r.PublishedAt, DeadLetteredAt: r.DeadLetteredAt,
			LastError: r.LastError, ErrorType: r.ErrorType, Archived: r.Archived,
		})
	}
	return all, nil
}

// newFixture connects the suite to an empty store.
func newFixture(*testing.T) storetest.Fixture {
	store := memstore.New(memstore.Config{})
	return storetest.Fixture{
		Store: store, Maintenance: store,
		Begin: func(context.Context) (storetest.Tx, error) { return Transaction{store.Begin(), store}, nil },
		NilTx: Transaction{nil, store},
		Table: Table{store: store},
		Waker: store.Waker(),
	}
}

// How a store's test looks: a fixture, and what the store is able to do.
func Example() {
	harness := storetest.Harness{
		New:      newFixture,
		Features: storetest.Features{Runs: true, Archive: true, Waker: true},
	}
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		storetest.Run(t, harness)
	}

	// What the suite does with it, for example:
	ctx := context.Background()
	fixture := harness.New(nil)
	tx, err := fixture.Begin(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := tx.PublishAll(ctx, outbox.Entry{DestinationType: "ALPHA", Destination: "orders", EventType: "order.confirmed", Payload: 1})
	fmt.Println(ids, err, tx.Commit(ctx))
	rows, err := fixture.Table.Rows(ctx)
	fmt.Println(rows[0].State, err)
	// Output:
	// [1] <nil> <nil>
	// PENDING <nil>
}
