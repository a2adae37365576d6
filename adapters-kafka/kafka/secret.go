package kafka

// Secret is text that does not show when it is printed, logged or marshalled.
type Secret string

// hidden stands in for a secret.
const hidden = "[hidden]"

// String implements fmt.Stringer.
func (Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hidden }

// MarshalText implements encoding.TextMarshaler, which encoding/json uses too.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
