package webhook

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
)

// schemePrefix starts the names of the signature scheme's headers.
const schemePrefix = "webhook-"

// eventTypeHeader follows the prefix in the name of the header for the event type.
const eventTypeHeader = "event-type"

// transportHeaders belong to the connection or describe the body: whoever sends
// the request sets them, and nobody else.
var transportHeaders = []string{
	"accept-encoding", "connection", "content-length", "content-type", "expect", "host",
	"http2-settings", "keep-alive", "proxy-authenticate", "proxy-authorization",
	"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
}

// credentialHeaders are the endpoint's to give. In an entry they are most likely
// those of the request in which it was published, and meant for somebody else.
var credentialHeaders = []string{"authorization", "cookie", "set-cookie"}

// withheld reports whether an application header is not passed on.
func withheld(name, prefix string) bool {
	name = strings.ToLower(name)
	return slices.Contains(transportHeaders, name) || slices.Contains(credentialHeaders, name) ||
		strings.HasPrefix(name, schemePrefix) || strings.HasPrefix(name, prefix)
}

// checkEndpointHeader says why an endpoint cannot have a header, or "".
func checkEndpointHeader(name, value string) string {
	lower := strings.ToLower(name)
	switch {
	case !token(name):
		return "has a name that is not an HTTP token"
	case slices.Contains(transportHeaders, lower) || strings.HasPrefix(lower, schemePrefix):
		return "is set by the sender"
	case !sendable(value):
		return "has a value with a control character"
	}
	return ""
}

// header builds the header of a request, signature aside. From weak to strong:
// the application's, propagation context, the endpoint's, the handler's own.
//
// An error is a *fault.Invalid and means that the entry can never be sent.
func (h *Handler) header(e *delivery.Envelope, endpoint Endpoint) (http.Header, error) {
	out := make(http.Header, len(e.Headers)+len(endpoint.Headers)+8)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if withheld(name, h.cfg.ReservedPrefix) {
			continue
		}
		if !token(name) {
			return nil, fault.NewInvalid(headerField(name), "has a key that is not an HTTP token")
		}
		if !sendable(e.Headers[name]) {
			return nil, fault.NewInvalid(headerField(name), "has a value with a control character")
		}
		out.Add(name, e.Headers[name]) // names that differ in case only are one header
	}
	writeContext(out, e.Metadata.Context, h.cfg.ReservedPrefix)
	for name, value := range endpoint.Headers {
		out.Set(name, value)
	}
	if !sendable(e.EventType) {
		return nil, fault.NewInvalid("event type", "has a control character")
	}
	if !sendable(e.ContentType) {
		return nil, fault.NewInvalid("content type", "has a control character")
	}
	out.Set(h.cfg.ReservedPrefix+eventTypeHeader, e.EventType)
	out.Set("Content-Type", e.ContentType)
	out.Set("User-Agent", h.cfg.UserAgent)
	// A present but empty value is not sent. It tells the transport that the request
	// may be repeated when a kept connection turns out to be closed: receivers
	// recognise the repetition by the message id.
	if _, given := out["Idempotency-Key"]; !given {
		out["Idempotency-Key"] = nil
	}
	return out, nil
}

// headerField names a header in an error.
func headerField(name string) string { return fmt.Sprintf("header %q", fault.Clean(name, 128)) }

// token reports whether s can be the name of a header.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// sendable reports whether s can be the value of a header. Bytes above ASCII can,
// as they are.
func sendable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
