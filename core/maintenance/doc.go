// Package maintenance keeps the tables of a satchel database healthy: it takes back
// what crashed relays held, repairs what no relay leaves behind, and deletes what has
// been kept long enough.
//
// # What runs when
//
// Two jobs, each a value with a Run method that does one bounded piece of work and
// returns. The package starts no goroutine and keeps no timer: a scheduler calls Run.
//
//	[Recovery]  every 30 seconds   takes back expired leases, then heals one window
//	[Cleanup]   every 6 hours      deletes published entries, dead letters, inbox markers
//
//	recovery := maintenance.Recovery{Store: store, Logger: logger}
//	for range time.Tick(30 * time.Second) {
//		if _, err := recovery.Run(ctx); err != nil {
//			failures.Inc()
//		}
//	}
//
// Run them apart from deliveries, each in a goroutine of its own, so that handlers
// that block never hold them up; and apart from each other, so that a long cleanup
// never delays a recovery. Neither is run at start-up by itself. One node that runs
// them is enough for a whole cluster, whatever destinations that node serves; none is
// too few: the entries of a relay that crashed then wait for ever.
//
// # Guarantees
//
// Each batch is a transaction of its own. What a batch did stays done, whatever
// happens to later batches, to the process, or to another table.
//
// A run goes on batch after batch until the store has nothing more that it can act
// on, so that one run catches up with any backlog that fits in [Config.TimeBudget].
// Stores leave out rows that somebody else has locked, and fill a batch with others
// instead. A short batch therefore means that only locked rows, if any, are left,
// and those are left to the next run: a run never waits for a lock and never spins.
// The tables take turns, one batch each, so that a backlog in one does not starve
// the others. The budget is looked at between batches, so a run may exceed it by the
// time of one batch per table.
//
// A table that fails is left alone until the next run while the others go on. All
// errors come back joined, next to a report of what was done all the same. A store
// that panics is an error like any other. A context that ends stops a run before the
// next batch; the batch in flight ends as the store sees fit.
//
// Retention counts from the moment an entry was published or dead-lettered and a
// marker was recorded, by the store's clock. An entry that is neither published nor
// dead-lettered is never deleted, however old.
//
// A recovered entry is not charged an attempt, since it is not known whether its
// handler ever ran. So that an entry which kills every node that claims it does not
// go round for ever, one that was claimed [Config.MaxClaims] times in a row without
// any outcome is dead-lettered; a run that does so is logged as a warning.
//
// Runs on several nodes at once, or overlapping runs on one, are harmless: they share
// the work.
//
// # Not guaranteed
//
// Retention is a minimum: rows go with the first run after it. For the inbox it is
// also the window in which duplicates are recognised: a message that is redelivered
// after its marker was deleted is processed again, so InboxRetention must be longer
// than the longest possible redelivery.
//
// A recovered entry may have reached its destination before its relay crashed; it is
// delivered again. Healing is paced, one window per run, so that it costs little
// beside a large backlog: an entry that another tool left in a broken state may wait
// several runs.
//
// Nothing here notices that nobody calls Run. Count the runs that returned no error,
// and raise an alarm when there were none for several periods.
package maintenance
