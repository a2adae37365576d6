// Package migrator brings a PostgreSQL schema to the form that satchel needs, and tells whether it has that form.
//
// [Apply] runs the embedded migrations that a database has not seen; a service may call it at start, a test always
// does. [Verify] changes nothing and reports what is pending, missing, different or INVALID; a service whose role must
// not change tables calls that instead. [Status] lists the migrations and how far each got.
//
//	db, err := sql.Open("pgx", dsn)
//	...
//	if err := migrator.Apply(ctx, db, migrator.Config{Schema: "messaging"}); err != nil { ... }
//
// # Guarantees
//
//   - Apply may be called as often as one likes and by any number of processes at once: an advisory lock lets one work,
//     the others wait and then find nothing to do.
//   - A migration is recorded in the transaction that performs it. Files that cannot run in a transaction (concurrent
//     index builds) are written so that they can run again, and are recorded statement by statement.
//   - After a failure, a crash or a cancelled context the next Apply continues. An INVALID index that an interrupted
//     build left is dropped and built anew.
//   - A migration that has to wait for a lock on a busy table gives up after a second, lets the writers pass that queued
//     behind it, and tries again (see [Config.LockAttempts]).
//   - Nothing outside the configured schema is touched, except that the schema itself is created when it is missing.
//   - The migrations are checked against their hash file first; a changed one is refused.
//
// # Non-guarantees
//
//   - There is no way down. Restore a backup, or write a migration.
//   - The advisory lock belongs to a session, so Apply needs a connection to the server itself or through a pooler in
//     session mode. Verify and Status work through any pooler.
//   - Tables made by another tool are not adopted silently: see [Config.Baseline].
//   - Verify does not compare storage parameters, privileges or owners, and accepts additional tables, columns and
//     indexes: these are the operator's.
//
// The package works on *sql.DB with any driver whose errors have a method SQLState() string, such as pgx and lib/pq.
// It stores what it did in the table satchel_revisions, next to the tables it made.
package migrator
