// Package postgrestest gives each test a migrated PostgreSQL database of its own, on whatever
// server there is.
//
//	func TestMain(m *testing.M) { postgrestest.Main(m) }
//
//	func TestConfirm(t *testing.T) {
//		pool := postgrestest.New(t).Pool(t)
//		...
//		outboxtest.Expect(t, outboxtest.Added(t, postgrestest.Entries(pool, ""), confirm), outbox.Entry{...})
//	}
//
// # The server
//
// It is looked for once per process: the one that SATCHEL_DATABASE_URL names, PostgreSQL's
// programs on this machine, a container, a download; see pgserver.Find of module servers. A
// server that was started ends with the process. Each package's tests are a process of their
// own: to start one server for all, run them under the command servers/cmd/with.
//
// # Guarantees
//
// Tests may run in parallel. What a test gets is removed when it ends, and nothing else on a
// given server is touched. A role that may not create databases gets a schema of its own
// instead, which the URL's search_path names first, so that a test need not know.
//
// With [Main] the migrations run once per process and databases are copies, which takes a
// fraction of a second; without it they run for each test.
//
// # Not guaranteed
//
// A process that is killed leaves what it made behind on a given server: databases or schemas
// whose names begin with satchel_test_. In a schema of a shared database notifications of
// other tests arrive as well; they are hints only.
package postgrestest
