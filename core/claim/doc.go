// Package claim holds the rules by which a relay may take entries.
//
// A handler says by its [Scope] where it can deliver to:
//
//	func (h *Handler) Scope() claim.Scope { return claim.Targets(h.topics) }
//
// The relay collects the scopes as [Capabilities] and resolves them, once per claim,
// into a [Snapshot], which is what a store is given.
//
// # Which entries a node may claim
//
//	scope                          what is claimed
//	All()                          every destination of the type
//	Targets(f), f gives names      those destinations of the type
//	Targets(f), f gives none       nothing of the type
//	no scope for a type            nothing of the type: its entries wait
//	no scope claims anything       nothing at all; the store is not even asked
//	a supplier misbehaves          nothing at all in this cycle, and an Error
//
// # Which of these may be claimed now
//
// An entry is due when both its available time and its scheduled time, if any,
// have come. An entry with an aggregate id is claimable only while no earlier
// entry (a lower id) of that aggregate id is unsettled, that is: neither published
// nor dead-lettered. This is head-of-line order. It holds whatever the state or the
// destination of the earlier entry is: an entry that waits out a backoff, that is
// scheduled for later, or that only another node can deliver holds back the younger
// ones of its aggregate. The aggregate type plays no part in it. Entries without an
// aggregate id are never ordered.
//
// A store may hand out several consecutive entries of one aggregate in one claim
// (an ordered run); the relay delivers them one after another and stops at the
// first that does not succeed.
//
// # Guarantees
//
// Suppliers run here, never inside a store: a store only sees a validated
// [Snapshot], so it cannot call an application's code under a transaction. A snapshot
// does not change, whatever the supplier does to its slice afterwards. An [Error] names
// no target.
//
// # Not guaranteed
//
// That the set of a supplier is the one in force when a handler is called: it may have
// changed since the claim. A handler that meets a destination it no longer knows says
// so with delivery.Unresolvable.
package claim
