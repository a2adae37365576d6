// Package inbox drops messages that were processed before.
//
// At-least-once delivery means that a consumer meets duplicates. It opens a
// transaction, calls [Processor.Once] with the message's id, and does its writes
// inside: the marker of the message commits together with them. When the message
// comes again, Once finds the marker and does nothing.
//
//	ran, err := processor.Once(ctx, tx, inbox.Message{ID: id, Source: "billing"}, func(ctx context.Context) error {
//		return markPaid(ctx, tx, order)
//	})
//
// Acknowledge the message to its broker after the transaction committed, also when
// ran is false. A store's module makes processors (pgxtx.NewProcessor); this package
// validates, the store's [Recorder] records.
//
// ID is what the sender calls the message: for entries of satchel the message id, which
// is the same on every attempt. Source says who consumes it, so that two consumers of
// one message each get it.
//
// # Guarantees
//
// For one (ID, Source) the work of at most one committed transaction. Two
// transactions at once: the second waits for the first and then skips its work, or
// runs it if the first rolled back. Under REPEATABLE READ and SERIALIZABLE it may
// instead fail with a retryable error.
//
// # Not guaranteed
//
// Anything outside the transaction; order; and duplicates that arrive after the
// marker was removed: retention must be longer than the longest possible redelivery.
package inbox
