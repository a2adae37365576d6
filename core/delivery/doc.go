// Package delivery is the port between the relay and destinations.
//
// A destination type is served by one [Handler]. The relay gives it an [Envelope]
// and reads the outcome from the error that comes back:
//
//	nil                     delivered; the entry becomes published
//	any error               retryable; one attempt is charged, then backoff
//	Permanent(err)          dead-lettered at once
//	Unresolvable(err)       not known here now; no attempt is charged
//	Unavailable(err)        the destination is down; no attempt is charged, and the
//	                        relay pauses that destination until a probe succeeds
//	RetryAfter(err, d)      retryable, but not before d has passed
//
// The default is the safe one: an error that nobody thought about is tried again,
// and a panic is an error like any other.
//
//	func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
//		err := h.gateway.Send(ctx, e.Destination, e.MessageID.String(), e.Payload)
//		if errors.Is(err, gateway.ErrRejected) {
//			return delivery.Permanent(err)
//		}
//		return err
//	}
//
// A handler that is better off with many entries at once is a [BatchHandler], one that
// can work in the store's transaction a [TxHandler], and one that knows which cluster
// it is connected to a [Fingerprinter]. Package deliverytest shows that a handler keeps
// what is said here.
//
// # What a handler can rely on
//
// No transaction and no database connection is held while it runs, unless it asks
// for the transaction itself (see [TxHandler]). It is never called for an entry
// while an earlier entry of the same aggregate is unsettled. The message id and the
// payload bytes are the same on every attempt.
//
// # What it cannot rely on
//
// Being called once. A crash between a delivery and its settlement, a lease that
// runs out, or a database that does not answer lead to a second call for an entry
// that was delivered. Destinations therefore pass the message id on, and consumers
// drop what they have seen (see the inbox package).
package delivery
