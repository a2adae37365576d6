package delivery

import (
	"errors"
	"time"
)

// Verdict is what became of one delivery attempt, read from the error that a
// handler returned. The zero value is none of them.
type Verdict int

// The verdicts.
const (
	// VerdictDelivered: the handler returned nil. The entry becomes published.
	VerdictDelivered Verdict = iota + 1
	// VerdictRetryable: any error that says nothing else. One attempt is charged, and the
	// entry is tried again after a backoff until its attempts are used up.
	VerdictRetryable
	// VerdictPermanent: no further attempt can help. The entry is dead-lettered at once.
	VerdictPermanent
	// VerdictUnresolvable: this node cannot tell where the entry goes, but another or a
	// later one may. The entry waits a little; no attempt is charged.
	VerdictUnresolvable
	// VerdictUnavailable: the destination as a whole is down. The entry waits, no attempt is
	// charged, and the relay stops claiming for that destination until a probe succeeds.
	VerdictUnavailable
)

// String returns the verdict's name, "unknown" for a value that is none.
func (v Verdict) String() string {
	switch v {
	case VerdictDelivered:
		return "delivered"
	case VerdictRetryable:
		return "retryable"
	case VerdictPermanent:
		return "permanent"
	case VerdictUnresolvable:
		return "unresolvable"
	case VerdictUnavailable:
		return "unavailable"
	}
	return "unknown"
}

// verdictError marks an error with a verdict; errors.Is and errors.As see the cause.
type verdictError struct {
	verdict Verdict
	after   time.Duration
	err     error
}

func (e *verdictError) Error() string { return e.err.Error() }
func (e *verdictError) Unwrap() error { return e.err }

// Permanent marks err: no further attempt can help (an invalid message, a refused
// one). Permanent(nil) is an error too, so that a mistake does not pass for success.
func Permanent(err error) error { return mark(VerdictPermanent, 0, err) }

// Unresolvable marks err: the destination is not known here, now. The entry comes back
// after the relay's UnresolvableDelay, as often as it takes.
func Unresolvable(err error) error { return mark(VerdictUnresolvable, 0, err) }

// Unavailable marks err: the destination as a whole cannot be reached (a broker that
// is down), whatever the message. See the relay's circuit breaker.
func Unavailable(err error) error { return mark(VerdictUnavailable, 0, err) }

// RetryAfter marks err as retryable, not before the given time has passed; the
// relay waits that long or its own backoff, whichever is longer, and never longer
// than the larger of its cap and one hour. A wait that is not positive asks for nothing.
func RetryAfter(err error, wait time.Duration) error { return mark(VerdictRetryable, wait, err) }

func mark(v Verdict, after time.Duration, err error) error {
	if err == nil {
		err = errors.New("satchel: " + v.String() + " failure without a cause")
	}
	return &verdictError{verdict: v, after: after, err: err}
}

// VerdictOf reads the verdict of an error, through wrapping. The outermost mark wins.
func VerdictOf(err error) Verdict {
	if err == nil {
		return VerdictDelivered
	}
	var marked *verdictError
	if errors.As(err, &marked) {
		return marked.verdict
	}
	return VerdictRetryable
}

// WaitOf returns the wait that RetryAfter asked for, 0 if none. As with [VerdictOf] the
// outermost mark wins.
func WaitOf(err error) time.Duration {
	var marked *verdictError
	if errors.As(err, &marked) {
		return max(0, marked.after)
	}
	return 0
}
