package webhook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// MaxRedirects is the largest number of redirects that one delivery follows.
const MaxRedirects = 3

// MaxRetryAfter is the longest wait that an endpoint can ask for; a longer one is
// cut. The relay has a bound of its own, see delivery.RetryAfter.
const MaxRetryAfter = 24 * time.Hour

// How much of a response's body is read, and for how long, before the connection
// is given up. Reading to the end is what lets the connection be used again.
const (
	maxDrainBytes = 64 << 10
	maxDrainTime  = time.Second
)

// StatusError is the error of a delivery that was answered with a status other
// than 2xx. Nothing of the response's body is in it.
type StatusError struct {
	// Code is the HTTP status.
	Code int
	// RetryAfter is the wait that the endpoint asked for, 0 if none.
	RetryAfter time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	if text := http.StatusText(e.Code); text != "" {
		return fmt.Sprintf("webhook endpoint answered %d %s", e.Code, text)
	}
	return fmt.Sprintf("webhook endpoint answered %d", e.Code)
}

// outcome turns an answer into a verdict.
func outcome(status int, header http.Header, now time.Time) error {
	if status >= 200 && status < 300 {
		return nil
	}
	failed := &StatusError{Code: status}
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		failed.RetryAfter = retryAfter(header.Get("Retry-After"), now)
		return delivery.RetryAfter(failed, failed.RetryAfter)
	default:
		// Also a redirect that was not followed, and 410, with which a receiver says
		// that it wants no more webhooks.
		return delivery.Permanent(failed)
	}
}

// retryAfter reads a Retry-After header: seconds, or a date. What is malformed or
// past is no wait.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter // digits that do not fit are a very long wait
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), MaxRetryAfter)
}

// redirect returns where to repeat the request, nil for nowhere. Only a redirect
// that keeps method and body counts, and only to the host, port and scheme that the
// endpoint was configured with: another could be anybody's, and would get the
// endpoint's headers.
func redirect(from *url.URL, status int, location string) *url.URL {
	if status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect || location == "" {
		return nil
	}
	to, err := from.Parse(location)
	if err != nil || to.User != nil || to.Scheme != from.Scheme ||
		!strings.EqualFold(to.Hostname(), from.Hostname()) || port(to) != port(from) {
		return nil
	}
	return to
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	default:
		return "443"
	}
}

// drain reads the rest of a response, within limits, and closes it; cancel ends a
// read that takes too long. The status has been received: whatever happens here
// changes nothing about the outcome.
func drain(body io.ReadCloser, cancel context.CancelFunc) {
	timer := time.AfterFunc(maxDrainTime, cancel)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, maxDrainBytes)
	_ = body.Close()
}
