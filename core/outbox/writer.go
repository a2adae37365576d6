package outbox

import "context"

// Writer is the port through which a [Publisher] stores entries. Tx is the type of
// the caller's transaction.
type Writer[Tx any] interface {
	// Insert stores the records in tx, in one statement where the store can, and
	// returns their ids in the same order. It must refuse a nil transaction before it
	// touches anything. The due time of a record is never earlier than the moment of
	// the insert, by the store's own clock. A refusal is a *fault.Invalid, a failure of
	// the store a *fault.Persistence.
	Insert(ctx context.Context, tx Tx, records []Record) ([]ID, error)
}
