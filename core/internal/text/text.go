// Package text is the one rule for names that core stores: ids, sources, owners,
// destinations. What it accepts comes back from any store as it was written.
package text

import (
	"strings"
	"unicode/utf8"
)

// MaxLength is the longest text, in characters.
const MaxLength = 255

// Problem is why a text is refused, as the end of a sentence about it.
type Problem string

// The problems. A text is checked in this order.
const (
	None    Problem = ""
	Empty   Problem = "is empty"
	Blank   Problem = "is blank"
	NotUTF8 Problem = "is not valid UTF-8"
	NUL     Problem = "has the character U+0000"
	TooLong Problem = "is longer than 255 characters"
)

// Check returns why s cannot be stored, or None.
func Check(s string) Problem {
	switch {
	case s == "":
		return Empty
	case strings.TrimSpace(s) == "":
		return Blank
	case !utf8.ValidString(s):
		return NotUTF8
	case strings.ContainsRune(s, 0):
		return NUL
	case utf8.RuneCountInString(s) > MaxLength:
		return TooLong
	}
	return None
}
