package memstore_test

import (
	"context"
	"testing"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{
		New: func(*testing.T) storetest.Fixture { return newFixture(memstore.New(memstore.Config{})) },
		Features: storetest.Features{
			Runs: true, Archive: true, TxDelivery: true, Registry: true, Waker: true,
		},
	})
}

// newFixture connects the suite to a store.
func newFixture(s *memstore.Store) storetest.Fixture {
	bind := func(tx *memstore.Tx) statements {
		return statements{
			tx:        tx,
			publisher: memstore.NewPublisher(s, outbox.Config{}),
			processor: memstore.NewProcessor(s),
		}
	}
	return storetest.Fixture{
		Store:       s,
		Maintenance: s,
		Begin:       func(context.Context) (storetest.Tx, error) { return transaction{bind(s.Begin())}, nil },
		NilTx:       bind(nil),
		Table:       memstore.Backdoor{Store: s},
		Waker:       s.Waker(),
		Adopt:       func(tx any) storetest.Statements { return bind(tx.(*memstore.Tx)) },
		Relays:      func(context.Context) ([]string, error) { return s.Relays(), nil },
	}
}

type statements struct {
	tx        *memstore.Tx
	publisher *outbox.Publisher[*memstore.Tx]
	processor *inbox.Processor[*memstore.Tx]
}

func (s statements) PublishAll(ctx context.Context, list ...outbox.Entry) ([]outbox.ID, error) {
	return s.publisher.PublishAll(ctx, s.tx, list...)
}

func (s statements) Once(ctx context.Context, m inbox.Message, work func(ctx context.Context) error) (bool, error) {
	return s.processor.Once(ctx, s.tx, m, work)
}

type transaction struct{ statements }

func (t transaction) Savepoint(context.Context) (func(context.Context) error, error) {
	sp := t.tx.Savepoint()
	return func(context.Context) error { return t.tx.RollbackTo(sp) }, nil
}

func (t transaction) Commit(context.Context) error   { return t.tx.Commit() }
func (t transaction) Rollback(context.Context) error { return t.tx.Rollback() }
