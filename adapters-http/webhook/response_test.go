package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// Every status there can be has the verdict of the table in the documentation.
func TestOutcomeOfEveryStatus(t *testing.T) {
	t.Parallel()
	for status := 200; status < 1000; status++ {
		want := delivery.VerdictPermanent
		switch {
		case status < 300:
			want = delivery.VerdictDelivered
		case status == 408, status == 425, status == 429, status >= 500:
			want = delivery.VerdictRetryable
		}
		err := outcome(status, http.Header{"Retry-After": {"7"}}, time.Now())
		if got := delivery.VerdictOf(err); got != want {
			t.Errorf("%d: got %v, want %v", status, got, want)
		}
		var failed *StatusError
		if err != nil && (!errors.As(err, &failed) || failed.Code != status) {
			t.Errorf("%d: the error %v does not tell the status", status, err)
		}
		wait := time.Duration(0)
		if want == delivery.VerdictRetryable {
			wait = 7 * time.Second
		}
		if got := delivery.WaitOf(err); got != wait {
			t.Errorf("%d: got a wait of %v, want %v", status, got, wait)
		}
	}
}

func TestStatusErrorText(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		503: "webhook endpoint answered 503 Service Unavailable",
		599: "webhook endpoint answered 599",
	} {
		if got := (&StatusError{Code: code}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                                  0,
		"0":                                 0,
		"1":                                 time.Second,
		" 120 ":                             2 * time.Minute,
		"86400":                             MaxRetryAfter,
		"86401":                             MaxRetryAfter,
		"9223372036854775807":               MaxRetryAfter,
		"99999999999999999999":              MaxRetryAfter,
		"-1":                                0,
		"1.5":                               0,
		"+3":                                0,
		"soon":                              0,
		"Wed, 02 Jan 2030 03:05:05 GMT":     time.Minute,
		"Wed, 02 Jan 2030 03:03:05 GMT":     0,
		"Wed, 02 Jan 2099 03:04:05 GMT":     MaxRetryAfter,
		"Wednesday, 02-Jan-30 03:04:15 GMT": 10 * time.Second,
		"Wed Jan  2 03:04:06 2030":          time.Second,
		"Wed, 02 Jan 2030":                  0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func TestRedirectTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, location string
		status         int
		want           string // empty: not followed
	}{
		"307 path":           {"https://example.com/a", "/b?c=d", 307, "https://example.com/b?c=d"},
		"308 absolute":       {"https://example.com/a", "https://example.com/b", 308, "https://example.com/b"},
		"default port named": {"https://example.com/a", "https://EXAMPLE.com:443/b", 307, "https://EXAMPLE.com:443/b"},
		"http default port":  {"http://example.com:80/a", "http://example.com/b", 307, "http://example.com/b"},
		"without scheme":     {"https://example.com/a", "//example.com/b", 307, "https://example.com/b"},
		"301":                {"https://example.com/a", "/b", 301, ""},
		"302":                {"https://example.com/a", "/b", 302, ""},
		"303":                {"https://example.com/a", "/b", 303, ""},
		"304":                {"https://example.com/a", "/b", 304, ""},
		"200":                {"https://example.com/a", "/b", 200, ""},
		"no location":        {"https://example.com/a", "", 307, ""},
		"other host":         {"https://example.com/a", "https://evil.example/b", 307, ""},
		"subdomain":          {"https://example.com/a", "https://www.example.com/b", 307, ""},
		"other host, short":  {"https://example.com/a", "//evil.example/b", 307, ""},
		"other port":         {"https://example.com/a", "https://example.com:8443/b", 307, ""},
		"downgrade":          {"https://example.com/a", "http://example.com/b", 307, ""},
		"downgrade, port":    {"https://example.com/a", "http://example.com:443/b", 307, ""},
		"upgrade":            {"http://example.com/a", "https://example.com/b", 308, ""},
		"other scheme":       {"https://example.com/a", "file:///etc/passwd", 307, ""},
		"credentials":        {"https://example.com/a", "https://u:p@example.com/b", 307, ""},
		"malformed":          {"https://example.com/a", "https://exa mple.com/%zz", 307, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, err := url.Parse(c.from)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if to := redirect(from, c.status, c.location); to != nil {
				got = to.String()
			}
			if got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// endless is a body that never ends.
type endless struct{ read int }

func (b *endless) Read(p []byte) (int, error) { b.read += len(p); return len(p), nil }
func (b *endless) Close() error               { return nil }

// stuck is a body that sends nothing until its request is cancelled.
type stuck struct{ ctx context.Context }

func (b stuck) Read([]byte) (int, error) { <-b.ctx.Done(); return 0, b.ctx.Err() }
func (b stuck) Close() error             { return nil }

func TestDrain(t *testing.T) {
	t.Parallel()
	body := new(endless)
	drain(body, func() {})
	if body.read < maxDrainBytes || body.read > 2*maxDrainBytes {
		t.Errorf("read %d bytes of an endless body", body.read)
	}
	short := strings.NewReader("short")
	drain(io.NopCloser(short), func() {})
	if short.Len() != 0 {
		t.Error("a short body was not read to its end")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		drain(stuck{ctx}, cancel)
		if took := time.Since(start); took != maxDrainTime {
			t.Errorf("a stuck body was waited for %v", took)
		}
	})
}
