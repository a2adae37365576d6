package kafka

import (
	"fmt"
	"log/slog"
)

// Secret is text that does not show when it is printed with any verb, logged by slog or
// marshalled to JSON, YAML or text: [redacted] stands for it. A conversion to string
// gives it away, and so does package fmt for a Secret in an unexported field of another
// type, which it prints without asking.
type Secret string

const redacted = "[redacted]"

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return redacted }

// Format implements fmt.Formatter: the placeholder for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler, which JSON and YAML use too.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
