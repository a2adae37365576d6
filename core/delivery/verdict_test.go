package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, c := range []struct {
		name string
		err  error
		want delivery.Verdict
		wait time.Duration
	}{
		{"nil", nil, delivery.VerdictDelivered, 0},
		{"plain", cause, delivery.VerdictRetryable, 0},
		{"deadline", context.DeadlineExceeded, delivery.VerdictRetryable, 0},
		{"permanent", delivery.Permanent(cause), delivery.VerdictPermanent, 0},
		{"unresolvable", delivery.Unresolvable(cause), delivery.VerdictUnresolvable, 0},
		{"unavailable", delivery.Unavailable(cause), delivery.VerdictUnavailable, 0},
		{"retry after", delivery.RetryAfter(cause, time.Minute), delivery.VerdictRetryable, time.Minute},
		{"retry after nothing", delivery.RetryAfter(cause, 0), delivery.VerdictRetryable, 0},
		{"retry after less than nothing", delivery.RetryAfter(cause, -time.Minute), delivery.VerdictRetryable, 0},
		{"wrapped", fmt.Errorf("send: %w", delivery.Permanent(cause)), delivery.VerdictPermanent, 0},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", delivery.RetryAfter(cause, 1))), delivery.VerdictRetryable, 1},
		{"joined", errors.Join(cause, delivery.Unresolvable(cause)), delivery.VerdictUnresolvable, 0},
		{"the outermost wins", delivery.Permanent(delivery.Unavailable(cause)), delivery.VerdictPermanent, 0},
		{"the outermost wins, reversed", delivery.RetryAfter(delivery.Permanent(cause), 2), delivery.VerdictRetryable, 2},
		{"the first of two joined", errors.Join(delivery.Permanent(cause), delivery.Unresolvable(cause)), delivery.VerdictPermanent, 0},
		{"permanent nothing", delivery.Permanent(nil), delivery.VerdictPermanent, 0},
		{"retry nothing", delivery.RetryAfter(nil, time.Second), delivery.VerdictRetryable, time.Second},
	} {
		if got := delivery.VerdictOf(c.err); got != c.want {
			t.Errorf("%s: verdict %v, want %v", c.name, got, c.want)
		}
		if got := delivery.WaitOf(c.err); got != c.wait {
			t.Errorf("%s: wait %v, want %v", c.name, got, c.wait)
		}
	}
}

func TestMarksKeepTheCause(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("produce: %w", context.DeadlineExceeded)
	for name, err := range map[string]error{
		"permanent": delivery.Permanent(cause), "unresolvable": delivery.Unresolvable(cause),
		"unavailable": delivery.Unavailable(cause), "retryable": delivery.RetryAfter(cause, 1),
	} {
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != cause.Error() {
			t.Errorf("%s: %v hides its cause", name, err)
		}
	}
	if got, want := delivery.Unavailable(nil).Error(), "satchel: unavailable failure without a cause"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerdictNames(t *testing.T) {
	t.Parallel()
	for v, want := range map[delivery.Verdict]string{
		delivery.VerdictDelivered: "delivered", delivery.VerdictRetryable: "retryable", delivery.VerdictPermanent: "permanent",
		delivery.VerdictUnresolvable: "unresolvable", delivery.VerdictUnavailable: "unavailable", 0: "unknown", 99: "unknown",
	} {
		if v.String() != want {
			t.Errorf("verdict %d is %q, want %q", int(v), v, want)
		}
	}
}
