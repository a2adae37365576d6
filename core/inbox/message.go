package inbox

import (
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
)

// MaxLength is the longest message id and the longest source, in characters.
const MaxLength = 255

// Message identifies an inbound message. The zero value is not valid.
type Message struct {
	// ID is the sender's message id; unique within Source. 1 to 255 characters.
	ID string
	// Source names who consumes it and from where, so that two consumers of one
	// message each get it once. 1 to 255 characters.
	Source string
}

// Validate returns a *fault.Invalid that names the field, or nil.
func (m Message) Validate() error {
	if reason := check(m.ID); reason != "" {
		return fault.NewInvalid("inbox message id", reason)
	}
	if reason := check(m.Source); reason != "" {
		return fault.NewInvalid("inbox source", reason)
	}
	return nil
}

func check(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is blank"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsRune(s, 0):
		return "has the character U+0000"
	case utf8.RuneCountInString(s) > MaxLength:
		return "is longer than 255 characters"
	}
	return ""
}
