package pgerr

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/satchel-go/satchel/core/fault"
)

// TestByCode: the SQLSTATE decides, for the errors of both drivers, through wrapping.
func TestByCode(t *testing.T) {
	t.Parallel()
	for code, retryable := range map[string]bool{
		"08000": true, "08003": true, "08006": true, // connection
		"40001": true, "40P01": true, // serialization failure, deadlock
		"53100": true, "53200": true, "53300": true, // disk, memory, connections
		"55P03": true, "57014": true, // lock not available, cancelled
		"57P01": true, "57P02": true, "57P03": true, "57P05": true, // shutdown, crash, start, idle session
		"58000": true, "58030": true, // system, I/O
		"25006": true, // read-only: the pool finds the new primary

		"53400": false,                 // configured limit
		"57P04": false,                 // database dropped
		"23505": false, "23514": false, // constraints
		"22P02": false, "22001": false, "22021": false, // data
		"25P02": false,                                 // failed transaction
		"42P01": false, "42501": false, "42703": false, // undefined table, rights, undefined column
		"XX000": false, "0A000": false, "": false, "4": false,
	} {
		for driver, err := range map[string]error{
			"pgx": &pgconn.PgError{Code: code, Message: "nothing to go by"},
			"pq":  &pq.Error{Code: pqerror.Code(code)},
		} {
			for _, wrapped := range []error{err, fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", err)), errors.Join(io.ErrShortWrite, err)} {
				got := Wrap("op", wrapped)
				var failure *fault.Persistence
				if !errors.As(got, &failure) || failure.Code != code || failure.Op != "op" || !errors.Is(got, wrapped) {
					t.Fatalf("%s %s became %#v", driver, code, got)
				}
				if fault.Retryable(got) != retryable {
					t.Errorf("%s %s: retryable is %v", driver, code, !retryable)
				}
			}
		}
	}
}

// TestWithoutCode: no server answered.
func TestWithoutCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err       error
		retryable bool
	}{
		{context.Canceled, true},
		{context.DeadlineExceeded, true},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{net.ErrClosed, true},
		{driver.ErrBadConn, true},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		{sql.ErrTxDone, false},
		{pgx.ErrTxClosed, false},
		{errors.New("anything"), false},
	} {
		got := Wrap("op", fmt.Errorf("outer: %w", c.err))
		var failure *fault.Persistence
		if !errors.As(got, &failure) || failure.Code != "" || !errors.Is(got, c.err) {
			t.Errorf("%v became %#v", c.err, got)
		}
		if fault.Retryable(got) != c.retryable {
			t.Errorf("%v: retryable is %v", c.err, !c.retryable)
		}
	}
}

func TestOwnErrorsStay(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, fault.NewInvalid("payload", "is nil"), &fault.Persistence{Op: "first", Code: "40001", Transient: true}} {
		if got := Wrap("second", err); got != err { //nolint:errorlint // the very value
			t.Errorf("%v became %v", err, got)
		}
	}
}
