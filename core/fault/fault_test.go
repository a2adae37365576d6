package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
)

func TestInvalid(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	plain := fault.NewInvalid("payload", "is nil")
	for _, c := range []struct {
		err  error
		text string
		is   bool
	}{
		{plain, "satchel: payload is nil", true},
		{&fault.Invalid{Field: "batch", Reason: "is odd", Cause: cause}, "satchel: batch is odd: cause", true},
		{fmt.Errorf("entry 3: %w", plain), "entry 3: satchel: payload is nil", true},
		{errors.Join(cause, plain), "cause\nsatchel: payload is nil", true},
		{cause, "cause", false},
		{&fault.Persistence{Op: "relay.claim", Err: cause}, "satchel: relay.claim failed: cause", false},
	} {
		if c.err.Error() != c.text {
			t.Errorf("text %q, want %q", c.err, c.text)
		}
		if fault.IsInvalid(c.err) != c.is {
			t.Errorf("IsInvalid(%v) = %v", c.err, !c.is)
		}
	}
	if fault.IsInvalid(nil) {
		t.Error("nil is invalid")
	}
	if !errors.Is(&fault.Invalid{Cause: cause}, cause) {
		t.Error("the cause cannot be found")
	}
}

func TestPersistence(t *testing.T) {
	t.Parallel()
	err := &fault.Persistence{Op: "outbox.publish", Code: "40P01", Transient: true, Err: context.DeadlineExceeded}
	if got, want := err.Error(), "satchel: outbox.publish failed (SQLSTATE 40P01): context deadline exceeded"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the driver's error cannot be found")
	}
}

type retryable bool

func (retryable) Error() string     { return "own" }
func (r retryable) Retryable() bool { return bool(r) }

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"says nothing", errors.New("x"), false},
		{"transient", &fault.Persistence{Transient: true}, true},
		{"lasting", &fault.Persistence{}, false},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", &fault.Persistence{Transient: true})), true},
		{"joined", errors.Join(errors.New("x"), &fault.Persistence{Transient: true}), true},
		{"invalid", fault.NewInvalid("f", "r"), false},
		{"somebody else's", retryable(true), true},
		{"somebody else's, not", retryable(false), false},
		{"the outer one speaks", fmt.Errorf("a: %w", &fault.Persistence{Err: retryable(true)}), false},
	} {
		if got := fault.Retryable(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
