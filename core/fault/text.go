package fault

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTextLength is the length to which [Text] cuts, in characters.
const MaxTextLength = 2000

// Text turns an error into something that any store and any log can hold: valid
// UTF-8 without control characters, at most [MaxTextLength] characters. It is total:
// an error whose Error method panics gives a text that says so.
func Text(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = "an error whose text could not be read"
		}
	}()
	return Clean(err.Error(), MaxTextLength)
}

// Clean cuts s to limit characters, none if that is negative, and replaces everything that a store or a
// terminal could stumble over: invalid UTF-8 by U+FFFD, control characters by '_'.
func Clean(s string, limit int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if utf8.RuneCountInString(s) > limit {
		cut := 0
		for range limit {
			_, size := utf8.DecodeRuneInString(s[cut:])
			cut += size
		}
		s = s[:cut]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, s)
}
