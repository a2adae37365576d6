package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	op := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(9, 8, 7, 6), Port: 443}, Err: err}
	}
	certificate := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	leaf := &x509.Certificate{DNSNames: []string{"s3cret.example"}}
	for name, c := range map[string]struct {
		err       error
		connected bool
		want      delivery.Verdict
		reason    string
	}{
		"refused":          {op(syscall.ECONNREFUSED), false, delivery.VerdictUnavailable, "connection refused"},
		"unreachable":      {op(syscall.EHOSTUNREACH), false, delivery.VerdictUnavailable, "no route to host"},
		"no such name":     {op(&net.DNSError{Name: "s3cret.example", IsNotFound: true}), false, delivery.VerdictUnavailable, "does not exist"},
		"lookup failed":    {op(&net.DNSError{Name: "s3cret.example", Server: "9.8.7.6", IsTemporary: true}), false, delivery.VerdictUnavailable, "could not be looked up"},
		"lookup timed out": {op(&net.DNSError{Name: "s3cret.example", IsTimeout: true}), false, delivery.VerdictUnavailable, "timed out"},
		"dial timed out":   {op(context.DeadlineExceeded), false, delivery.VerdictUnavailable, "timed out"},
		"answer timed out": {context.DeadlineExceeded, true, delivery.VerdictRetryable, "timed out"},
		"reset":            {op(syscall.ECONNRESET), true, delivery.VerdictRetryable, "connection reset by peer"},
		"closed":           {io.EOF, true, delivery.VerdictRetryable, "connection was closed"},
		"closed halfway":   {fmt.Errorf("s3cret: %w", io.ErrUnexpectedEOF), true, delivery.VerdictRetryable, "connection was closed"},
		"nonsense":         {errors.New("malformed HTTP response s3cret"), true, delivery.VerdictRetryable, "the transport failed"},
		"wrong name":       {certificate(x509.HostnameError{Certificate: leaf, Host: "s3cret.example"}), false, delivery.VerdictUnavailable, "for another name"},
		"unknown issuer":   {certificate(x509.UnknownAuthorityError{Cert: leaf}), false, delivery.VerdictUnavailable, "authority is not known"},
		"expired":          {certificate(x509.CertificateInvalidError{Reason: x509.Expired, Detail: "s3cret"}), false, delivery.VerdictUnavailable, "has expired"},
		"bad use":          {certificate(x509.CertificateInvalidError{Reason: x509.IncompatibleUsage, Detail: "s3cret"}), false, delivery.VerdictUnavailable, "it is not valid"},
		"no tls":           {tls.RecordHeaderError{Msg: "s3cret"}, false, delivery.VerdictUnavailable, "does not speak TLS"},
		"private":          {op(ErrPrivateAddress), false, delivery.VerdictPermanent, "not public"},
		"some private":     {errSomePrivate, false, delivery.VerdictUnavailable, "the transport failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := failure(t.Context(), c.connected, c.err)
			if got := delivery.VerdictOf(err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			var failed *RequestError
			if !errors.As(err, &failed) || failed.Connected != c.connected || failed.Unwrap() != c.err { //nolint:errorlint // the very error
				t.Errorf("the error %v does not lead to its cause", err)
			}
			text := err.Error()
			if !strings.Contains(text, c.reason) {
				t.Errorf("got %q, want %q in it", text, c.reason)
			}
			for _, leak := range []string{"s3cret", "9.8.7.6"} {
				if strings.Contains(text, leak) {
					t.Errorf("the text %q repeats %q", text, leak)
				}
			}
		})
	}
}

// A caller that gives up says nothing about the endpoint.
func TestFailureAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := failure(ctx, false, context.Canceled)
	if got := delivery.VerdictOf(err); got != delivery.VerdictRetryable || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v (%v)", got, err)
	}
}
