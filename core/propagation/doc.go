// Package propagation carries context across the outbox: what a context.Context
// holds when an entry is published, for example a trace or a correlation id, is
// stored with the entry and restored into the context.Context of whoever handles it.
//
// Each kind of context is a namespace with a [Codec]. Publisher and relay are given a
// [Set] of them:
//
//	set := propagation.NewSet(logger, propagation.Standard()...)
//	publisher := outbox.NewPublisher(writer, outbox.Config{Propagation: set})
//	r, err := relay.New(store, handlers, relay.Config{Propagation: set})
//
//	ctx = propagation.With(ctx, propagation.Correlation, "request-7") // before Publish
//	propagation.From(ctx, propagation.Correlation)                    // in the handler
//
// # Guarantees
//
// Carrying context is a convenience and never a reason to fail: what is too large,
// malformed or unknown is dropped, with a warning to the logger, and the entry goes on.
// So does it when a codec panics. No value is ever in a warning.
//
// # Not guaranteed
//
// Nothing is carried that no codec captures: deadlines, cancellation and other values
// end with the publisher. The codecs of this package know no tracing library: put the
// library's own trace context in with [With], or replace the codec.
package propagation
