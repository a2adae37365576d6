// Package integration and the packages below it test satchel as a whole: several modules, several processes and real
// servers together. It holds no code for applications.
//
//	crash    processes and servers that are killed, transactions that are cancelled
//	wakeup   the listener, and relays that must not wait for their poll
//	upkeep   the scheduler, and maintenance beside load
//	cluster  several relays on one database, networks and databases that fail
//
// They need a PostgreSQL server, named by SATCHEL_DATABASE_URL: run `make test` in the root of the repository, which finds
// or starts one. Tests that break a server start their own. With SATCHEL_STRESS=1 they are several times as large.
//
// # What a test here looks like
//
// It disturbs something, lets the system go on, and then compares a journal of deliveries with the tables: nothing lost,
// nothing out of order, nothing twice without a reason. Waiting is bounded generously and never asserted on; where a test
// shows that something does not wait for a poll, the poll is set to longer than the test can last.
package integration
