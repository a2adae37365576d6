// Package given words why a given server cannot be used, without repeating what the environment said about it.
package given

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// Error keeps the driver's error for errors.Is and errors.As, and its words, which may name user, host and
// database, out of sight.
type Error struct {
	Reason string
	Err    error
}

// NewError words the failures of the network; other ones get the word that the caller has for them.
func NewError(err error, otherwise string) *Error {
	reason := otherwise
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		reason = "the host name is unknown"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "nothing listens there"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		reason = "no answer in time"
	}
	return &Error{Reason: reason, Err: err}
}

// Error names the reason only.
func (e *Error) Error() string { return "cannot connect: " + e.Reason }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }
