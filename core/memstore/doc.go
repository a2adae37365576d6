// Package memstore keeps entries and inbox markers in memory, with the same contract
// as a database store: it is for tests of code that publishes, relays or consumes,
// and it is the reference against which the conformance suite was written.
//
//	store := memstore.New(memstore.Config{})
//	publisher := memstore.NewPublisher(store, outbox.Config{})
//
//	tx := store.Begin()
//	_, err := publisher.Publish(ctx, tx, entry)
//	err = tx.Commit()
//
// [Store.Rows] shows what is stored. Code that takes a store by its port (a relay, the
// jobs of package maintenance) takes this one.
//
// # Transactions
//
// [Store.Begin] starts a [Tx]. What is published or recorded in it becomes visible
// when it commits, all at once, and never when it rolls back. As with a database
// sequence, the id of an entry is drawn at the insert: two transactions may commit in
// the other order than their ids, and a rollback leaves a gap. A second transaction
// that records the same inbox message waits for the first.
//
// # Time
//
// The only clock is time.Now, and nothing polls, so a test inside a testing/synctest
// bubble runs in virtual time: a backoff of an hour takes no time at all.
//
// # Guarantees
//
// Those of the ports: relay.Store with relay.TxSession and relay.Registrar,
// maintenance.Store, outbox.Writer, inbox.Recorder, and relay.Waker through
// [Store.Waker]. The storetest suite runs against it.
//
// # Not guaranteed
//
// Anything after the process ends, and speed with many entries: a claim looks at
// every unsettled entry. Isolation is that of READ COMMITTED; there are no row locks,
// since each call is one step under the store's mutex.
package memstore
