package fault

import (
	"errors"
	"fmt"
)

// Persistence is a failure of a store: the database refused a statement, was not
// reachable, or answered something that makes no sense.
type Persistence struct {
	// Op is what was tried ("outbox.publish", "relay.claim").
	Op string
	// Code is the server's error code (an SQLSTATE), empty when no server answered.
	Code string
	// Transient says that the same call may succeed later.
	Transient bool
	// Err is the driver's error.
	Err error
}

// Error implements error.
func (e *Persistence) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("satchel: %s failed (SQLSTATE %s): %v", e.Op, e.Code, e.Err)
	}
	return fmt.Sprintf("satchel: %s failed: %v", e.Op, e.Err)
}

// Unwrap returns the driver's error, so that errors.Is and errors.As see through.
func (e *Persistence) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later: true for deadlocks,
// serialization failures, lock time-outs, lost connections, cancelled calls and
// servers that are starting, stopping, full or read-only; false for everything else.
// After a retryable error inside a transaction it is the whole transaction that
// has to be tried again.
func (e *Persistence) Retryable() bool { return e.Transient }

// Retryable reports whether err, or an error it wraps, says of itself that the
// same call may succeed later. It is false for nil and for errors that do not say.
func Retryable(err error) bool {
	var r interface{ Retryable() bool }
	return errors.As(err, &r) && r.Retryable()
}
