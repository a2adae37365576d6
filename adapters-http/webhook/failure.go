package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/satchel-go/satchel/core/delivery"
)

// RequestError is the error of a delivery that got no answer. Its text is one of a
// fixed set; the cause, which [errors.As] can reach, may name hosts and addresses.
type RequestError struct {
	// Connected says that there was a usable connection, TLS included, so that the
	// request may have reached the receiver.
	Connected bool
	// Reason says what happened in a few words that hold no data.
	Reason string
	// Err is the cause.
	Err error
}

// Error implements error.
func (e *RequestError) Error() string {
	if e.Connected {
		return "webhook request got no answer: " + e.Reason
	}
	return "no connection to the webhook endpoint: " + e.Reason
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// failure gives the error of a request a verdict.
func failure(ctx context.Context, connected bool, err error) error {
	failed := &RequestError{Connected: connected, Reason: reason(err), Err: err}
	switch {
	case errors.Is(err, ErrPrivateAddress):
		return delivery.Permanent(failed)
	case connected, errors.Is(ctx.Err(), context.Canceled):
		// The receiver may have the message, or it is this side that gave up: neither
		// says anything about the endpoint as a whole.
		return failed
	default:
		return delivery.Unavailable(failed)
	}
}

// reason describes an error without quoting it: the texts of package net hold
// names and addresses, those of other packages may hold anything.
func reason(err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		notTLS      tls.RecordHeaderError
		errno       syscall.Errno
		timeout     net.Error
	)
	switch {
	case errors.Is(err, ErrPrivateAddress):
		return "its addresses are not public"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "its name does not exist"
	case errors.As(err, &dns):
		return "its name could not be looked up"
	case errors.As(err, &certificate):
		return "its certificate was not accepted: " + certificateReason(certificate)
	case errors.As(err, &notTLS):
		return "it does not speak TLS"
	case errors.As(err, &errno):
		return errno.Error() // a fixed text of the operating system
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return "the transport failed"
}

func certificateReason(err *tls.CertificateVerificationError) string {
	var (
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &host):
		return "it is for another name"
	case errors.As(err, &unknown):
		return "its authority is not known"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	}
	return "it is not valid"
}
