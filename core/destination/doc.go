// Package destination names where an entry goes: a type, which selects the
// handler, and a name inside that type, which the handler understands (a topic,
// a service operation, a job, an endpoint).
//
//	outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", ...}
//
// A type is an open value: this module knows four, an application adds its own by
// using another well-formed identifier:
//
//	const SMS destination.Type = "SMS"
//
// # Guarantees
//
// What is well-formed here can be stored, and comes back as it was. A well-formed
// type that this process does not know is never an error: its entries wait for a node
// that serves them.
//
// # Not guaranteed
//
// That anybody serves a type, or knows a name: a typing error in either makes an
// entry that waits. A type that comes from outside the program is therefore read with
// [ParseType], and the others are best written as constants.
package destination
