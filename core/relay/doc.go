// Package relay moves committed entries from a store to the handlers of their
// destinations.
//
//	r, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
//	if err != nil {
//		return err
//	}
//	return r.Run(ctx) // until ctx ends
//
// [Relay.Run] is for services, [Relay.Drain] and [Relay.RunOnce] for tests and for hosts
// with a scheduler of their own. [Store], [Session] and what they name are for those who
// write a store. Any number of relays, in any number of processes, may serve one store.
//
// # The cycle
//
// A [Relay] is one loop that owns all its state. It asks the store for entries that
// its handlers can deliver (a claim, under a lease), calls the handlers, and records
// the outcomes. Claims, deliveries and settlements overlap; the loop never claims more
// than it has room for.
//
//	PENDING --claim--> PROCESSING --delivered------------------> PUBLISHED (or archived, deleted)
//	   ^                   |-------permanent, or attempts used up--> DEAD_LETTER
//	   |                   |-------retryable: attempt + 1, backoff--.
//	   |                   |-------unresolvable, unavailable: later-|
//	   |                   |-------not started: untouched-----------|
//	   '-------------------'---------------lease expired------------'
//
// # Guarantees
//
// An entry is never delivered while an earlier entry of its aggregate is visible and
// unsettled. Consecutive entries of an aggregate may be claimed together; they are
// delivered one after another, and the first that is not delivered sends those behind
// it back untouched.
//
// An outcome is recorded only under the lease of the claim that led to it. A relay
// that lost its lease, because it hung or was cut off, can no longer change anything.
// Leases are renewed while handlers run, and a handler's context ends when its lease
// is lost.
//
// What fails costs the entry it belongs to at most one attempt, and nothing else: a
// handler that errs, panics, ends its goroutine or never returns; a row that cannot be
// read; an observer that panics; a store that fails to record. A claim that fails is
// tried again later; the loop always goes on.
//
// An entry that was lost by several claims in a row, since its relays crashed, is
// delivered with nothing else under way, so that it cannot take others with it.
//
// # Waking up
//
// Polling is the truth, a notification is a hint. See [Strategy].
//
// # Watching
//
// An [Observer] is told of every attempt and what became of it, a [BreakerObserver] also
// of destinations that went down and came back.
//
// # Stopping
//
// When the context of Run ends: no more claims; what was claimed and not started goes
// back at once; running handlers get [Config.DrainTimeout] to finish, then their contexts
// end; outcomes are recorded and observed; the relay leaves the registry. A process that
// is killed instead loses nothing: its entries are delivered again once their lease has
// expired and recovery, see package maintenance, has taken it back.
//
// # Not guaranteed
//
// That an entry is delivered once: a crash after a delivery and before its outcome was
// recorded leads to another, with the same message id. An order between aggregates.
// An order of entries whose transactions were open at the same time other than that
// of their ids: an entry that commits after a younger one of its aggregate was
// delivered comes after it. Publishers of one aggregate that must not overlap can take
// a lock for it.
package relay
