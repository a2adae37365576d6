// Package deliverytest is the conformance suite of handlers: it shows that an
// implementation of delivery.Handler keeps what the relay relies on. It uses the
// standard library only.
//
// A handler's test supplies a [Harness] and calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		deliverytest.Run(t, deliverytest.Harness{
//			New:   func(t *testing.T) delivery.Handler { return newHandler(t) },
//			Known: "orders",
//		})
//	}
//
// # What it covers
//
// The verdict for a delivery that works, for an unknown destination, for a payload
// that cannot be decoded, for a failure that nobody thought of and for a context that
// has ended; envelopes of every odd shape, none of which may cause a panic; that the
// envelope is not changed and not kept; that no error text quotes a payload or a header
// value; deliveries at once; a message that comes twice; and, where the handler has
// them, batches and fingerprints.
//
// A test that does not concern the handler (it has no targets, no batches, no
// fingerprints, or the harness has no Failing) is skipped and says why.
//
// # What it does not cover
//
// What arrives at the destination, since only the handler's own tests can look there,
// and DeliverTx, which needs a transaction of some store. Run it with -race: that
// is what finds a handler that keeps an envelope.
package deliverytest
