package deliverytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
)

// deadline bounds one delivery. It is generous: it is there for a handler that hangs.
const deadline = 30 * time.Second

// bench is one test: a handler with shorthands that fail the test.
type bench struct {
	*testing.T
	Harness
	handler delivery.Handler
}

// Run runs the suite as subtests of t, in parallel. A harness without New or Known, or
// with Undecodable and no verdict for it, fails t at once.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.New == nil || h.Known == "" {
		t.Fatal("the harness lacks New or Known")
	}
	if h.Undecodable != nil && h.UndecodableVerdict == 0 {
		t.Fatal("the harness has Undecodable without UndecodableVerdict")
	}
	for _, c := range []struct {
		name string
		run  func(*bench)
	}{
		{"type and scope are constant and valid", identity},
		{"a valid envelope is delivered", valid},
		{"an unknown destination is unresolvable", unknownDestination},
		{"an undecodable payload has its verdict", undecodable},
		{"an unknown error is retryable", unknownError},
		{"an ended context is no verdict", endedContext},
		{"odd envelopes do no harm", oddEnvelopes},
		{"the envelope is not changed", notChanged},
		{"errors quote nothing", quoteNothing},
		{"a duplicate is tolerated", duplicate},
		{"deliveries at once", atOnce},
		{"batches have one result each", batches},
		{"fingerprints are stable", fingerprints},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(&bench{T: t, Harness: h, handler: h.New(t)})
		})
	}
}

// attempt delivers once and reports a panic as a failure of the test.
func (b *bench) attempt(ctx context.Context, e delivery.Envelope) error {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	err := delivery.Attempt(ctx, b.handler, e)
	var panicked *delivery.PanicError
	if errors.As(err, &panicked) {
		b.Errorf("the handler panicked: %v\n%s", panicked.Value, panicked.Stack)
	}
	if ctx.Err() == context.DeadlineExceeded {
		b.Errorf("the delivery took longer than %v", deadline)
	}
	return err
}

// want checks a verdict.
func (b *bench) want(what string, err error, verdicts ...delivery.Verdict) {
	b.Helper()
	got := delivery.VerdictOf(err)
	for _, v := range verdicts {
		if got == v {
			return
		}
	}
	b.Errorf("%s: verdict %v (%v), want %v", what, got, err, verdicts)
}

// hasTargets reports whether the handler names its destinations.
func (b *bench) hasTargets() bool {
	b.Helper()
	scope, err := claim.Resolve(claim.Capabilities{b.handler.Type(): b.handler.Scope()})
	if err != nil {
		b.Fatalf("the scope does not resolve: %v", err)
	}
	ts, ok := scope.Type(b.handler.Type())
	return !ok || !ts.All
}
