package delivery_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// What becomes of an entry is read from the error, through wrapping.
// A handler says what became of a message through its error.
func ExampleVerdictOf() {
	down := errors.New("connection refused")
	for _, err := range []error{
		nil,
		down,
		delivery.Permanent(errors.New("message too large")),
		fmt.Errorf("look up topic: %w", delivery.Unresolvable(errors.New("no such topic here"))),
		delivery.Unavailable(down),
		delivery.RetryAfter(errors.New("too many requests"), 30*time.Second),
	} {
		fmt.Println(delivery.VerdictOf(err), delivery.WaitOf(err))
	}
	// Output:
	// delivered 0s
	// retryable 0s
	// permanent 0s
	// unresolvable 0s
	// unavailable 0s
	// retryable 30s
}

// The mark does not hide the cause, and not its text either.
func ExamplePermanent() {
	errTooLarge := errors.New("message is too large")
	err := delivery.Permanent(errTooLarge)
	fmt.Println(err, errors.Is(err, errTooLarge), delivery.VerdictOf(err))
	// Output: message is too large true permanent
}

// Another node, or a later version of this one, may know the destination.
func ExampleUnresolvable() {
	err := delivery.Unresolvable(errors.New("no such topic"))
	fmt.Println(delivery.VerdictOf(err))
	// Output: unresolvable
}

// The destination as a whole is down: the relay pauses it and charges no attempts.
func ExampleUnavailable() {
	err := fmt.Errorf("produce: %w", delivery.Unavailable(errors.New("connection refused")))
	fmt.Println(delivery.VerdictOf(err), err)
	// Output: unavailable produce: connection refused
}

// A destination that says when to come back is believed.
func ExampleRetryAfter() {
	err := delivery.RetryAfter(errors.New("too many requests"), time.Minute)
	fmt.Println(delivery.VerdictOf(err), delivery.WaitOf(err))
	// Output: retryable 1m0s
}
