package destination

import (
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/text"
)

// MaxTypeLength is the longest permitted type, in bytes.
const MaxTypeLength = 32

// MaxNameLength is the longest permitted destination name, in characters.
const MaxNameLength = text.MaxLength

// Type identifies a kind of destination: one to 32 characters from
// A-Z, a-z, 0-9, '_' and '-'. It is case-sensitive. The zero value is not valid.
type Type string

// The types that this project has adapters for.
const (
	// Service is an operation inside this or another process of the application.
	Service Type = "SERVICE"
	// DelayedJob is a job in a job queue.
	DelayedJob Type = "DELAYED_JOB"
	// Kafka is a topic of a Kafka cluster.
	Kafka Type = "KAFKA"
	// HTTP is a configured webhook endpoint.
	HTTP Type = "HTTP"
)

// ParseType returns s as a Type, or a *fault.Invalid for the field "destination type".
func ParseType(s string) (Type, error) {
	t := Type(s)
	return t, t.Validate()
}

// Validate reports whether t is well-formed. The error never repeats the value.
func (t Type) Validate() error {
	const field = "destination type"
	switch {
	case t == "":
		return fault.NewInvalid(field, "is empty")
	case len(t) > MaxTypeLength:
		return fault.NewInvalid(field, "is longer than 32 characters")
	}
	for i := range len(t) {
		if !typeByte(t[i]) {
			return fault.NewInvalid(field, "has a character other than A-Z, a-z, 0-9, '_' and '-'")
		}
	}
	return nil
}

// String returns the identifier itself.
func (t Type) String() string { return string(t) }

func typeByte(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
