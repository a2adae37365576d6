package webhook

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// Defaults of [Config] and [ReceiverConfig].
const (
	DefaultUserAgent = "satchel-webhook/1" // of every request
	DefaultTimeout   = 15 * time.Second    // of one delivery, redirects included
	DefaultMaxBytes  = 1 << 20             // of a payload that is sent, and of a body that is read
)

// Config adjusts a [Handler]. Source is required.
type Config struct {
	// Source supplies the endpoints.
	Source Source
	// UserAgent is sent with every request; empty means "satchel-webhook/1".
	UserAgent string
	// ReservedPrefix starts the names of the headers for event type and propagation
	// context; empty means "satchel-". It should be outbox.Config.ReservedPrefix.
	ReservedPrefix string
	// Timeout limits one delivery, redirects included, at endpoints that do not say
	// themselves; 0 means 15 seconds, at most 10 minutes. The relay's own limit for an
	// attempt applies as well, whichever ends first.
	Timeout time.Duration
	// MaxPayloadBytes is the largest payload that is sent; 0 means 1 MiB, which many
	// receivers have as their limit; at most outbox.MaxPayloadBytes. An entry with a larger
	// one is dead-lettered.
	MaxPayloadBytes int
	// Proxy returns the proxy for a request, nil for none; a nil function means none,
	// whatever the environment says. Requests through a proxy are not checked for
	// private addresses, since it is the proxy that resolves the name and connects: it
	// has to refuse them itself.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS adds certificates, roots and other settings; nil means the system's roots
	// and TLS 1.2 or later. It is copied. One that skips verification is refused.
	TLS *tls.Config
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns a copy with the defaults filled in, or all problems joined.
func (c Config) withDefaults() (Config, error) {
	var problems []error
	invalid := func(field, reason string) {
		problems = append(problems, fault.NewInvalid("webhook config: "+field, reason))
	}
	if c.Source == nil {
		invalid("source", "is missing")
	}
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	if !sendable(c.UserAgent) {
		invalid("user agent", "has a control character")
	}
	prefix, reason := reservedPrefix(c.ReservedPrefix)
	if reason != "" {
		invalid("reserved prefix", reason)
	}
	c.ReservedPrefix = prefix
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Timeout < 0 || c.Timeout > MaxTimeout {
		invalid("timeout", "is negative or longer than 10 minutes")
	}
	if c.MaxPayloadBytes == 0 {
		c.MaxPayloadBytes = DefaultMaxBytes
	}
	if c.MaxPayloadBytes < 0 || c.MaxPayloadBytes > outbox.MaxPayloadBytes {
		invalid("max payload bytes", "is negative or larger than 64 MiB")
	}
	if c.TLS != nil && c.TLS.InsecureSkipVerify {
		invalid("tls", "skips the verification of certificates")
	}
	return c, errors.Join(problems...)
}

// reservedPrefix returns the prefix in lower case with its default, or why it is refused.
func reservedPrefix(prefix string) (string, string) {
	if prefix == "" {
		prefix = outbox.DefaultReservedPrefix
	}
	prefix = strings.ToLower(prefix)
	switch {
	case !token(prefix):
		return "", "has a character that no header name can have"
	case strings.HasPrefix(schemePrefix, prefix) || strings.HasPrefix(prefix, schemePrefix):
		return "", "overlaps with the headers of the webhook scheme"
	}
	return prefix, ""
}
