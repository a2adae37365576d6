// Package core holds no code: it is the map of the packages below it, which know
// nothing of databases, brokers or drivers and need the standard library only.
//
// # To publish and to consume
//
//	destination   where an entry goes: a type and a name
//	outbox        entries, and the publisher that writes them in your transaction
//	inbox         drops messages that were processed before
//	propagation   carries a trace or a correlation id along
//
// # To deliver
//
//	delivery      the port of destinations: handlers, envelopes, verdicts
//	claim         which entries a node may take
//	relay         the loop from the store to the handlers
//	maintenance   recovery of crashed relays, and retention
//	config        all settings, as one file
//
// # To test
//
//	memstore      a store in memory
//	outboxtest    what was published, deliveries on demand, faults
//	storetest     the conformance suite of stores
//	deliverytest  the conformance suite of handlers
//
// # To build on
//
//	fault         the errors that callers branch on
//	jsonb         what a JSONB column can hold
//
// # Guarantees
//
// An entry exists if and only if the transaction that published it committed. It is
// then delivered at least once, always with the same message id; entries of one
// aggregate are delivered in the order of their ids, each after the one before it was
// delivered or given up. With the inbox on the receiving side the effect of a message
// in the receiver's database happens once.
//
// # Not guaranteed
//
// That an entry is delivered once, or within a time, or in an order with entries of
// other aggregates. Each package says what it leaves open.
//
// # Where to begin
//
// The example of package memstore publishes an entry, that of package relay delivers
// one. Both run without a database.
package core
