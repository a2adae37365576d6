package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

// MaxSecrets is the largest number of secrets of one endpoint.
const MaxSecrets = 8

// MaxTimeout is the longest time limit of one delivery.
const MaxTimeout = 10 * time.Minute

// Endpoint is a receiver of webhooks. Entries name it by its ID; its URL is
// configuration and never comes from a stored row.
//
// Printing an endpoint shows its id only: a URL can hold a token as well as a
// header can.
type Endpoint struct {
	// ID is what entries give as their destination: 1 to 255 characters from A-Z, a-z,
	// 0-9, '.', '_', ':' and '-'. It stays the same when the URL changes.
	ID string
	// URL is where requests go: absolute, https unless AllowInsecure, without
	// credentials and without a fragment.
	URL string
	// Secrets sign every request, one signature each. One is required. While a secret
	// is being replaced give the new one and the old one; at most 8.
	Secrets []Secret
	// Headers are sent with every request, for example Authorization. They win over
	// headers of the entry with the same name; their values are never printed.
	Headers map[string]string
	// Timeout limits one delivery in all, redirects included; 0 means the handler's
	// Config.Timeout, at most 10 minutes.
	Timeout time.Duration
	// AllowInsecure permits a URL with the scheme http.
	AllowInsecure bool
	// AllowPrivate permits addresses that are not on the public internet (loopback,
	// private, link-local and so on). Set it for receivers of your own, never for a URL
	// that a customer chose.
	AllowPrivate bool
}

// String returns the id, marked as an endpoint's.
func (e Endpoint) String() string { return "webhook endpoint " + strconv.Quote(e.ID) }

// Format implements fmt.Formatter: what String returns for every verb and flag.
func (e Endpoint) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.String())) }

// LogValue implements slog.LogValuer with the id.
func (e Endpoint) LogValue() slog.Value { return slog.GroupValue(slog.String("id", e.ID)) }

// Validate returns all problems of e, each a *fault.Invalid, joined. None repeats
// an id, a URL, a secret or a header value.
func (e Endpoint) Validate() error {
	_, err := e.check()
	return err
}

// check validates e and returns its URL parsed.
func (e Endpoint) check() (*url.URL, error) {
	target, problems := e.checkURL()
	invalid := func(field, reason string) {
		problems = append(problems, fault.NewInvalid(field, reason))
	}
	switch {
	case e.ID == "":
		invalid("id", "is empty")
	case len(e.ID) > destination.MaxNameLength:
		invalid("id", "is longer than 255 characters")
	case strings.ContainsFunc(e.ID, func(r rune) bool { return !idRune(r) }):
		invalid("id", "has a character other than A-Z, a-z, 0-9, '.', '_', ':' and '-'")
	}
	switch {
	case len(e.Secrets) == 0:
		invalid("secrets", "are missing")
	case len(e.Secrets) > MaxSecrets:
		invalid("secrets", "are more than 8")
	case slices.ContainsFunc(e.Secrets, Secret.IsZero):
		invalid("secrets", "hold an empty one")
	}
	if e.Timeout < 0 || e.Timeout > MaxTimeout {
		invalid("timeout", "is negative or longer than 10 minutes")
	}
	seen := make(map[string]bool, len(e.Headers))
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if seen[strings.ToLower(name)] {
			invalid(headerField(name), "is there twice, in different case")
		}
		seen[strings.ToLower(name)] = true
		if reason := checkEndpointHeader(name, e.Headers[name]); reason != "" {
			invalid(headerField(name), reason)
		}
	}
	return target, errors.Join(problems...)
}

func (e Endpoint) checkURL() (*url.URL, []error) {
	// The parser's own error quotes the URL.
	target, err := url.Parse(e.URL)
	if err != nil || target.Hostname() == "" || target.Opaque != "" {
		return nil, []error{fault.NewInvalid("url", "is not an absolute URL with a host")}
	}
	var problems []error
	invalid := func(reason string) { problems = append(problems, fault.NewInvalid("url", reason)) }
	switch {
	case target.Scheme == "http" && !e.AllowInsecure:
		invalid("has the scheme http, which has to be allowed explicitly")
	case target.Scheme != "https" && target.Scheme != "http":
		invalid("has a scheme other than https and http")
	}
	if target.User != nil {
		invalid("holds credentials; send them in a header")
	}
	if target.Fragment != "" {
		invalid("has a fragment")
	}
	// Names are checked when they are resolved, for each connection; a literal
	// address can be refused here.
	if addr, err := netip.ParseAddr(target.Hostname()); err == nil && !e.AllowPrivate && !public(addr) {
		invalid("has an address that is not public, which has to be allowed explicitly")
	}
	return target, problems
}

func idRune(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._:-", r)
}

// clone returns e with slices and maps of its own.
func (e Endpoint) clone() Endpoint {
	e.Secrets = slices.Clone(e.Secrets)
	e.Headers = maps.Clone(e.Headers)
	return e
}
