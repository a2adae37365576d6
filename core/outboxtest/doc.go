// Package outboxtest is for tests of applications that publish, deliver and consume: it says
// what was published, delivers it synchronously, and makes deliveries fail on purpose. It
// uses the standard library only.
//
// # What was published
//
// [Tap] stands between a publisher and its store and knows the entries of each transaction,
// also before it is committed. [Added] compares what a [Source] shows before and after a
// function: only committed entries, unless the source reads inside a transaction.
// [Expect] compares either with outbox.Entry values, in which only the fields that are set count:
//
//	got := outboxtest.Added(t, outboxtest.Memory(store), func() { shop.Confirm(ctx, order) })
//	outboxtest.Expect(t, got, outbox.Entry{Destination: "orders", EventType: "order.confirmed"})
//
// # What becomes of it
//
// [Drain] runs a relay until nothing is left to deliver, with retries that do not wait, and
// returns every attempt. [Recorder] is a handler that keeps what it is given; [Faulty] is one
// that fails by a script: before the delivery, after it, by a panic, or not at all in time.
//
// # Not covered
//
// Whether a store or a handler keeps its promises: packages storetest and deliverytest are for
// that. Time: inside a testing/synctest bubble, with memstore, a test can also let a relay run
// and sleep over an hour of backoff.
package outboxtest
