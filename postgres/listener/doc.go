// Package listener wakes relays by PostgreSQL's LISTEN and NOTIFY, over lib/pq.
//
//	l, err := listener.New(dsn, listener.Config{})
//	go l.Run(ctx)
//	r, err := relay.New(store, handlers, relay.Config{Waker: l})
//
// One listener serves any number of relays of a process and takes one connection,
// which must not go through a pooler that lends connections per transaction: give a
// DSN of the server itself.
//
// # Guarantees
//
// Whatever happens to the connection, Run goes on: it reconnects, with growing pauses
// up to Config.MaxReconnect, and every reconnection counts as a hint, since
// notifications may have been missed. A connection that is open and silent, be it that
// the network swallows everything or that a pooler dropped the LISTEN, is noticed: the
// listener regularly sends itself a notification by another connection, and replaces
// the one that did not hear it. Every notification is read as soon as it arrives, so
// the server's queue never fills up because of this listener. Run returns soon after
// its context ended, whatever the network does.
//
// # Not guaranteed
//
// That a hint arrives. Relays poll, and find at their polling interval what no hint
// told them of. The channel belongs to the whole database: a hint may be about the
// tables of another schema.
package listener
