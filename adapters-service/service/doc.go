// Package service delivers outbox entries to functions inside the application.
//
// An [Operation] is a stable id with a payload type. It is a value that producer and
// consumer share; the producer needs no handler, and the consumer may be another
// process, or another version of the same one:
//
//	var Charge = service.MustOperation("billing.charge",
//		service.WithAggregate("Order", func(c ChargeOrder) string { return c.OrderID }))
//
// The producer sends in its own transaction:
//
//	_, err := service.Send(ctx, publisher, tx, Charge, ChargeOrder{OrderID: "order-42"})
//
// The consumer registers a function and gives the relay a handler for all of them:
//
//	registry := service.NewRegistry()
//	_ = service.Handle(registry, Charge, billing.Charge, service.HandlerOptions{})
//	handler, err := service.NewHandler(registry, service.Config{})
//
// # What a node claims
//
// A node claims entries for the operations that are registered with it, and no
// others. The set is live: operations can be added, removed, paused and resumed while
// the relay runs, and the next claim follows. An entry for an operation that nobody
// hosts waits, without being charged an attempt.
//
// # Outcomes
//
//	the function returns nil            delivered
//	any error, or a panic               retryable
//	delivery.Permanent(err) and so on   as marked
//	the payload does not decode         retryable, *DecodeError: a newer version of
//	                                    the consumer may understand it
//	no such operation here, or paused   unresolvable: ErrUnknownTarget, ErrPaused
//	wrong kind of transaction           unresolvable, *TxTypeError
//
// # Guarantees
//
// The function of an operation is called at least once for each committed entry, in
// the order of the entries of one aggregate, with the same message id every time (see
// [MessageFrom]). A function registered with [HandleTx] works in the very database
// transaction that settles its entry, so that its effect in that database happens
// exactly once.
//
// # Not guaranteed
//
// A function registered with [Handle] can be called again for an entry that it
// finished: it must be idempotent, or drop duplicates with the inbox package. An order
// between different aggregates, or for entries without one, does not exist.
package service
