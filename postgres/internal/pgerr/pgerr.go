// Package pgerr is the one place where errors of PostgreSQL drivers become errors
// of satchel. It knows drivers only by what they share: the SQLSTATE.
package pgerr

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/satchel-go/satchel/core/fault"
)

// stateful is implemented by the errors of pgx and of lib/pq.
type stateful interface{ SQLState() string }

// Code returns the SQLSTATE of an error of the server, through wrapping, or "".
func Code(err error) string {
	var s stateful
	if errors.As(err, &s) {
		return s.SQLState()
	}
	return ""
}

// ReadOnly is the SQLSTATE of a server that takes no writes, such as a former
// primary after a failover.
const ReadOnly = "25006"

// LockNotAvailable is the SQLSTATE of a lock that did not come in time.
const LockNotAvailable = "55P03"

// Wrap returns err as a *fault.Persistence. Errors that already are one of satchel's
// stay as they are.
func Wrap(op string, err error) error {
	var persistence *fault.Persistence
	switch {
	case err == nil:
		return nil
	case fault.IsInvalid(err) || errors.As(err, &persistence):
		return err
	}
	code := Code(err)
	return &fault.Persistence{Op: op, Code: code, Transient: transient(code, err), Err: err}
}

// transient reports whether the same call may succeed later.
func transient(code string, err error) bool {
	if code != "" {
		return transientCode(code)
	}
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn)
}

func transientCode(code string) bool {
	switch code {
	case LockNotAvailable,
		"57014",                            // cancelled, for example by a time-out
		"57P01", "57P02", "57P03", "57P05", // the server stops, crashed, starts, or closed an idle session
		"58000", "58030", // system and I/O errors of the server
		ReadOnly:
		return true
	case "53400": // a configured limit: the same call meets it again
		return false
	}
	switch code[:min(2, len(code))] {
	case "08", // connection
		"40", // deadlock, serialization failure
		"53": // out of connections, memory, disk
		return true
	}
	return false
}
