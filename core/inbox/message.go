package inbox

import (
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/text"
)

// MaxLength is the longest message id and the longest source, in characters.
const MaxLength = text.MaxLength

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
	if problem := text.Check(m.ID); problem != text.None {
		return fault.NewInvalid("inbox message id", string(problem))
	}
	if problem := text.Check(m.Source); problem != text.None {
		return fault.NewInvalid("inbox source", string(problem))
	}
	return nil
}
