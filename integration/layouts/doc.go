// Package layouts shows that goose and golang-migrate make the same tables from the layouts in module schema as the
// package migrator makes from the migrations: on an empty database, from version 1 with rows in it, in a schema of its
// own, beside and among the migrations of an application. It also holds what docs/migration.md says about failures of
// each tool, and how to go on after them.
//
// The tests need a PostgreSQL server, named by SATCHEL_DATABASE_URL: run `make test` in the root of the repository, which
// finds or starts one. Each test makes a database of its own and drops it.
package layouts
