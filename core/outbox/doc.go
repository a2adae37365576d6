// Package outbox is the authoring side: entries, and the publisher that writes them
// in the caller's transaction.
//
//	_, err := publisher.Publish(ctx, tx, outbox.Entry{
//		DestinationType: destination.Kafka,
//		Destination:     "orders",
//		EventType:       "order.confirmed",
//		AggregateID:     "order-42",
//		Payload:         event,
//	})
//
// The transaction is a type parameter: a publisher for pgx.Tx does not compile with
// another kind of transaction. A store's module makes publishers (pgxtx.NewPublisher);
// this package validates and stamps, the store's [Writer] inserts.
//
// An [Entry] is what an application writes, a [Record] what a store holds. [State],
// [Metadata], [DecodeHeaders] and [DecodeMetadata] are for those who read the table or
// write a store or a destination.
//
// # Guarantees
//
// The entry exists if and only if the transaction commits. What cannot be stored or
// delivered is refused before anything is sent, with a *fault.Invalid that names the
// field and never the value, and the transaction is as usable as before. Entries of
// one call get ascending ids in the order given.
//
// # Not guaranteed
//
// When the entry is delivered, or that it is delivered once: see the relay package.
// That the ids of transactions which are open at the same time follow the order of
// their commits. That a JSON payload keeps its bytes; see [Raw].
package outbox
