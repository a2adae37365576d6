// Package schema holds the PostgreSQL schema of satchel: the versioned migrations and the state they lead to.
//
// The migrations are plain SQL in the layout of Atlas, one file per step, guarded by a hash file. They are written
// without schema names, so that they land in whatever schema the session that runs them has first in its search_path.
// Three version numbers structure them:
//
//   - version 1 creates the tables outbox and inbox, their indexes and a trigger that notifies for every row;
//   - version 2 adds leases, the registry of relays and the bookkeeping of maintenance, replaces the indexes by ones that
//     do not depend on the state column, and makes the trigger notify only while a relay sleeps;
//   - version 3 adds the partitioned archive and payloads that are not JSON.
//
// Whatever runs them makes the same tables: the package migrator (a module of its own, so that this one has no
// dependency), its command satchel-migrate, the Atlas command line with the atlas.hcl of this repository, goose with
// [Goose], golang-migrate with [GolangMigrate]. Another tool can run them too if it runs a file that starts with
// "-- atlas:txmode none" outside a transaction and every other one inside. docs/migration.md of this repository has the
// command lines, and what is particular to each tool.
//
// The package guarantees that a published file never changes: corrections come as new files. It does not promise that
// an older relay works on a newer schema; docs/migration.md says who has to be stopped when.
package schema
