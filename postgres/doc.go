// Package postgres is the store of satchel on PostgreSQL.
//
// [Store] is what relays and maintenance work on; it needs a pool of pgx. The
// packages pgxtx, sqltx and sqlxtx publish entries and process messages in the
// application's own transactions, whichever library these belong to. The package
// listener wakes relays, the package scheduler runs maintenance once per cluster.
//
//	store, err := postgres.NewStore(pool, postgres.Config{})
//	r, err := relay.New(store, handlers, relay.Config{})
//	err = r.Run(ctx)
//
// # Guarantees
//
// Each call is one transaction at READ COMMITTED, whatever the database's default is,
// so a pooler that lends connections per transaction is fine. No connection and no
// lock is held while a handler runs, unless the handler works in the transaction that
// settles its entry. Every decision about time is made by the database's clock; only
// durations cross the wire.
//
// A claim changes no indexed column: it is a HOT update. Its cost does not depend on
// the backlog, since each relay reads the due-ordered index like a log and remembers,
// in memory, how far it came; see the design document for the paths by which
// everything behind that position is found.
//
// # Errors
//
// Errors of the database are *fault.Persistence with the SQLSTATE; Retryable says
// whether the same call may succeed later. A connection whose server takes no writes is
// dropped, so that a pool finds the new primary after a failover.
//
// # Not guaranteed
//
// Anything on a database whose tables are not of the version that this module was
// made for: see the schema module's Verify.
package postgres
