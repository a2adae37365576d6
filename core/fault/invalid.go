package fault

import (
	"errors"
	"fmt"
)

// Invalid says that one field of the caller's input was refused, and why.
// It is returned before anything reaches a server.
type Invalid struct {
	// Field names what was refused, in the words of the API ("payload", "header \"x\"").
	Field string
	// Reason completes the sentence "Field ...", without repeating the value.
	Reason string
	// Cause is the underlying error, if there is one that is safe to show.
	Cause error
}

// NewInvalid returns an *Invalid for field; the reason completes a sentence that starts with it.
func NewInvalid(field, reason string) *Invalid { return &Invalid{Field: field, Reason: reason} }

// Error implements error.
func (e *Invalid) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("satchel: %s %s: %v", e.Field, e.Reason, e.Cause)
	}
	return fmt.Sprintf("satchel: %s %s", e.Field, e.Reason)
}

// Unwrap returns the cause.
func (e *Invalid) Unwrap() error { return e.Cause }

// Retryable is always false: the same value will be refused again.
func (e *Invalid) Retryable() bool { return false }

// IsInvalid reports whether err, or an error it wraps, is an *Invalid.
func IsInvalid(err error) bool {
	var invalid *Invalid
	return errors.As(err, &invalid)
}
