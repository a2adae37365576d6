package outboxtest

import (
	"context"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/outbox"
)

// Tap is an outbox.Writer that passes entries on to another one and remembers them by
// transaction. It is safe for concurrent use.
type Tap[Tx comparable] struct {
	writer outbox.Writer[Tx]

	mu   sync.Mutex
	byTx map[Tx][]outbox.Record // guarded by mu
}

// NewTap returns a tap before a store's writer. Make the publisher under test with it:
//
//	tap := outboxtest.NewTap(writer)
//	publisher := outbox.NewPublisher(tap, outbox.Config{})
func NewTap[Tx comparable](writer outbox.Writer[Tx]) *Tap[Tx] {
	return &Tap[Tx]{writer: writer, byTx: map[Tx][]outbox.Record{}}
}

// Insert implements outbox.Writer. The errors are those of the writer behind it, and what
// failed is not remembered.
func (tap *Tap[Tx]) Insert(ctx context.Context, tx Tx, records []outbox.Record) ([]outbox.ID, error) {
	ids, err := tap.writer.Insert(ctx, tx, records)
	if err != nil || len(ids) != len(records) {
		return ids, err
	}
	tap.mu.Lock()
	defer tap.mu.Unlock()
	for i, r := range records {
		r.ID = ids[i]
		tap.byTx[tx] = append(tap.byTx[tx], r)
	}
	return ids, nil
}

// In returns what was published in a transaction so far, in order, whether it commits or
// not. What was rolled back to a savepoint is among it.
func (tap *Tap[Tx]) In(tx Tx) []outbox.Record {
	tap.mu.Lock()
	defer tap.mu.Unlock()
	return slices.Clone(tap.byTx[tx])
}
