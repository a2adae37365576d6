package deliverytest

import (
	"context"
	"errors"
	"strings"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
)

func identity(b *bench) {
	if _, err := delivery.NewRegistry(b.handler); err != nil {
		b.Fatalf("no registry takes the handler: %v", err)
	}
	if first, second := b.handler.Type(), b.handler.Type(); first != second {
		b.Errorf("the type changes: %s, then %s", first, second)
	}
	scope, err := claim.Resolve(claim.Capabilities{b.handler.Type(): b.handler.Scope()})
	if err != nil {
		b.Fatalf("the scope does not resolve: %v", err)
	}
	if !scope.Allows(b.handler.Type(), b.Known) {
		b.Errorf("the known destination is not in the scope")
	}
}

func valid(b *bench) {
	for range 3 {
		b.want("valid envelope", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictDelivered)
	}
	last := b.envelope(b.handler)
	last.Attempt = last.MaxAttempts // the last attempt is an attempt like any other
	b.want("last attempt", b.attempt(b.Context(), last), delivery.VerdictDelivered)
}

// unknown is a destination that no handler has.
const unknown = "deliverytest.no-such-destination"

// unknownDestination: a row may have been claimed by mistake, or its target removed
// between the claim and the delivery.
func unknownDestination(b *bench) {
	if !b.hasTargets() {
		b.Skip("the scope is every destination of the type")
	}
	for _, name := range []string{unknown, "", strings.Repeat("x", 255), b.Known + " ", "'; --"} {
		e := b.envelope(b.handler)
		e.Destination = name
		b.want("unknown destination", b.attempt(b.Context(), e), delivery.VerdictUnresolvable)
	}
	b.want("afterwards", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictDelivered)
}

func undecodable(b *bench) {
	if b.Undecodable == nil {
		b.Skip("the handler does not decode payloads")
	}
	e := b.envelope(b.handler)
	b.Undecodable(&e)
	b.want("undecodable payload", b.attempt(b.Context(), e), b.UndecodableVerdict)
	b.want("afterwards", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictDelivered)
}

func unknownError(b *bench) {
	if b.Failing == nil {
		b.Skip("the harness has no failing handler")
	}
	failure := errors.New("a failure that nobody thought of")
	b.handler = b.Failing(b.T, failure)
	b.want("unknown error", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictRetryable)
}

// endedContext: a delivery that was not made because its time was over says nothing
// about the message, so it must come again. It may also have been made.
func endedContext(b *bench) {
	again := []delivery.Verdict{delivery.VerdictDelivered, delivery.VerdictRetryable, delivery.VerdictUnavailable}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	b.want("ended context", b.attempt(ctx, b.envelope(b.handler)), again...)

	// No relay gives a nil context. A handler that panics over one costs an attempt.
	var none context.Context
	b.want("nil context", delivery.Attempt(none, b.handler, b.envelope(b.handler)), again...)
	b.want("afterwards", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictDelivered)
}

// quoteNothing: errors go to logs and to the last_error column.
func quoteNothing(b *bench) {
	check := func(what string, err error) {
		b.Helper()
		if err != nil && strings.Contains(err.Error(), marker) {
			b.Errorf("%s: the error quotes the payload or a header value: %v", what, err)
		}
	}
	e := b.envelope(b.handler)
	e.Destination = unknown
	check("unknown destination", b.attempt(b.Context(), e))
	for name, change := range odd {
		e := b.envelope(b.handler)
		change(&e)
		check(name, b.attempt(b.Context(), e))
	}
	if b.Undecodable != nil {
		e := b.envelope(b.handler)
		b.Undecodable(&e)
		check("undecodable payload", b.attempt(b.Context(), e))
	}
}
