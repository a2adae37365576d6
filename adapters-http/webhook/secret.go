package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"

	"github.com/satchel-go/satchel/core/fault"
)

// secretPrefix marks a serialised symmetric secret in the Standard Webhooks scheme.
const secretPrefix = "whsec_"

// redacted stands for a secret wherever one would be printed.
const redacted = "[redacted]"

// Bounds of a secret's key, in bytes, as the Standard Webhooks scheme sets them.
const (
	MinSecretBytes = 24 // a shorter key is refused
	MaxSecretBytes = 64 // a longer key is refused
)

// Secret is a symmetric signing key. Every way of printing it, also as part of
// another value, shows a placeholder; only [Secret.Reveal] gives it away. The zero
// value is not a key and is refused wherever one is needed.
type Secret struct {
	// A function, because package fmt prints the unexported fields of an outer struct
	// without asking Format, and for some verbs follows a pointer; never a function.
	key func() []byte
}

// NewSecret returns a fresh random secret of 32 bytes.
func NewSecret() Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // documented to never fail
	return secretOf(key)
}

// ParseSecret reads a serialised secret: standard base64 of 24 to 64 bytes, with or
// without the prefix "whsec_". A *fault.Invalid says what is wrong and never
// repeats the text.
func ParseSecret(text string) (Secret, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(text, secretPrefix))
	switch {
	case err != nil:
		return Secret{}, fault.NewInvalid("webhook secret", "is not standard base64, with or without the prefix whsec_")
	case len(key) < MinSecretBytes || len(key) > MaxSecretBytes:
		return Secret{}, fault.NewInvalid("webhook secret", "does not hold 24 to 64 bytes")
	}
	return secretOf(key), nil
}

func secretOf(key []byte) Secret { return Secret{key: func() []byte { return key }} }

// Reveal returns the serialised secret, to be handed to the other side.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(s.key())
}

// IsZero reports whether s holds no key.
func (s Secret) IsZero() bool { return s.key == nil }

// String returns a placeholder.
func (s Secret) String() string { return redacted }

// GoString returns a placeholder.
func (s Secret) GoString() string { return redacted }

// Format implements fmt.Formatter: a placeholder for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue implements slog.LogValuer with a placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler with a placeholder, which does not
// parse back: a configuration that was dumped cannot be mistaken for a working one.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText implements encoding.TextUnmarshaler by [ParseSecret].
func (s *Secret) UnmarshalText(text []byte) error {
	parsed, err := ParseSecret(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// mac is the message authentication code of the parts of a signed message.
func (s Secret) mac(id, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, s.key())
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return h.Sum(nil)
}
