package producer

import (
	"context"
	"errors"
	"fmt"
)

// ErrClosed is returned for every use after Close began.
var ErrClosed = errors.New("kafka: the producer is closed")

// NotSentError says that nothing of the record was handed to the client: there was
// no connection to the cluster, or the client took no further records in time.
type NotSentError struct{ Err error }

// Error implements error.
func (e *NotSentError) Error() string { return "kafka: record was not sent: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NotSentError) Unwrap() error { return e.Err }

// NotSentIn returns the error of a record that was not sent before ctx ended.
func NotSentIn(ctx context.Context) *NotSentError { return &NotSentError{Err: ended(ctx)} }

// UnknownError says that the caller's context ended while the record was with the
// client: it may have been stored or may still be.
type UnknownError struct{ Err error }

// Error implements error.
func (e *UnknownError) Error() string {
	return "kafka: no result for the record in time, it may have been stored: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// ended says why ctx ended: context.Canceled or context.DeadlineExceeded, and the
// cause if whoever ended it gave another.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
