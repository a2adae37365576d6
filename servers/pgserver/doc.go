// Package pgserver finds a PostgreSQL server for tests, demonstrations and benchmarks, or starts one.
//
// Find tries, in this order:
//
//  1. the server that SATCHEL_DATABASE_URL names;
//  2. PostgreSQL's programs on this machine: SATCHEL_POSTGRES_BIN, PATH, the folders of the usual packages (newest first);
//  3. a container of SATCHEL_POSTGRES_IMAGE (default postgres:17), when a local Docker engine answers;
//  4. Debian's packages, unpacked into a cache folder: no root, no change to the system, about 30 MB, once;
//  5. the archive that embedded-postgres downloads, when not running as root.
//
// An image that SATCHEL_POSTGRES_IMAGE or Options name is used or reported: no other source is tried, except the first,
// which only Options.Image passes over. So is the folder of SATCHEL_POSTGRES_BIN.
//
// A server that was started listens on 127.0.0.1 on a port of its own, has one superuser "postgres" without a password,
// one database "postgres", UTF-8 and the locale C, and lives in a temporary folder or a container until Stop.
//
//	server, err := pgserver.Find(ctx, pgserver.Options{Ephemeral: true, Logf: log.Printf})
//	if err != nil { ... }
//	defer server.Stop(ctx)
//	pool, err := pgxpool.New(ctx, server.URL)
//
// Guarantees: a given server is never stopped, and never replaced by another when it does not answer. A started one
// ends with this process, however that ends. Restart and Crash keep the port and the data, also with Ephemeral.
//
// Non-guarantees: settings are not applied to a given server. Data written with Ephemeral may not survive a crash of
// the machine. The unpacked packages are not updated: remove the cache folder to fetch newer ones.
package pgserver
