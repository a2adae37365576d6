package delivery

import (
	"context"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

// Handler is the port of a destination type. Its methods are called from several
// goroutines at once, but never for two entries of one aggregate at a time.
type Handler interface {
	// Type is the destination type served; constant.
	Type() destination.Type
	// Scope says which destinations of the type this node can deliver to; constant,
	// though the set behind claim.Targets may change.
	Scope() claim.Scope
	// Deliver makes one attempt. Nil means delivered; any other error is retryable
	// unless marked with Permanent, Unresolvable or Unavailable. ctx ends when the
	// attempt's time is up, when its lease is lost, or when the relay stops and its
	// drain time is over; a handler that ignores it keeps its slot. A panic counts as a
	// retryable error. Deliver can be called again for an entry that was delivered
	// before: it must tolerate duplicates or pass the message id on.
	Deliver(ctx context.Context, e Envelope) error
}

// BatchHandler is a [Handler] that is better off with several entries at once.
type BatchHandler interface {
	Handler
	// DeliverBatch attempts all entries, no two of which belong to one aggregate, and
	// returns one result for each, in their order. A result of another length, or a
	// panic, counts as a retryable failure of every entry.
	DeliverBatch(ctx context.Context, batch []Envelope) []error
}

// TxHandler is a [Handler] that can run inside the database transaction that
// settles its entry, so that its effect in that database happens exactly once. With a
// store that lends no transactions Deliver is called for every entry.
type TxHandler interface {
	Handler
	// InTx reports whether this entry is to be handled in the transaction.
	InTx(e Envelope) bool
	// DeliverTx is Deliver inside the transaction tx of the relay's store, for example
	// a pgx.Tx. The transaction is committed by the relay, together with the entry's
	// outcome, if and only if the result is nil; it must not be ended here.
	DeliverTx(ctx context.Context, tx any, e Envelope) error
}

// Fingerprinter is implemented by handlers that know which physical destination
// they are connected to. An entry stored with another fingerprint is unresolvable.
type Fingerprinter interface {
	// Fingerprint identifies the physical destination behind a name (a cluster, a
	// namespace), or returns "" when that is not known, which matches everything.
	Fingerprint(ctx context.Context, name string) string
}
