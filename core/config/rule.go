package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
)

// rule is what one key may hold. Both methods return why something is refused, as the
// end of a sentence about the key that does not repeat the value, or "".
type rule interface {
	// set stores v, which is from a file; a v that is refused is not stored.
	set(t *Tree, v any) string
	// check looks at what t holds.
	check(t *Tree) string
}

// whole is a whole number between two bounds.
type whole struct {
	at       func(*Tree) *int
	min, max int
}

func (w whole) set(t *Tree, v any) string {
	n, ok := integer(v)
	if !ok {
		return fmt.Sprintf("is %s, not a whole number from %d to %d", kind(v), w.min, w.max)
	}
	if n < int64(w.min) || n > int64(w.max) {
		return w.reason()
	}
	*w.at(t) = int(n)
	return ""
}

func (w whole) check(t *Tree) string {
	if n := *w.at(t); n < w.min || n > w.max {
		return w.reason()
	}
	return ""
}

func (w whole) reason() string {
	return fmt.Sprintf("is not a whole number from %d to %d", w.min, w.max)
}

// retention is a number of days or the word for ever.
type retention struct{ at func(*Tree) *Days }

func (r retention) set(t *Tree, v any) string {
	days, ok := integer(v)
	switch word, isText := v.(string); {
	case isText && word == foreverText:
		*r.at(t) = Forever
		return ""
	case isText:
		return r.reason("is")
	case !ok:
		return r.reason("is " + kind(v) + ",")
	case days < 1 || days > int64(maxDays):
		return r.reason("is")
	}
	*r.at(t) = Days(days)
	return ""
}

func (r retention) check(t *Tree) string {
	if days := *r.at(t); days != Forever && (days < 1 || days > maxDays) {
		return r.reason("is")
	}
	return ""
}

func (r retention) reason(verb string) string {
	return fmt.Sprintf("%s not a whole number of days from 1 to %d, nor %q", verb, maxDays, foreverText)
}

// choice is one of a few words.
type choice[T ~string] struct {
	at      func(*Tree) *T
	options []T
}

func (c choice[T]) set(t *Tree, v any) string {
	word, ok := v.(string)
	switch {
	case !ok:
		return "is " + kind(v) + ", " + c.reason("not")
	case !slices.Contains(c.options, T(word)):
		return c.reason("is not")
	}
	*c.at(t) = T(word)
	return ""
}

func (c choice[T]) check(t *Tree) string {
	if !slices.Contains(c.options, *c.at(t)) {
		return c.reason("is not")
	}
	return ""
}

func (c choice[T]) reason(verb string) string {
	words := make([]string, len(c.options))
	for i, option := range c.options {
		words[i] = string(option)
	}
	return verb + " one of " + strings.Join(words, ", ")
}

// text is a string that a function accepts.
type text struct {
	at      func(*Tree) *string
	refused func(string) string
	// optional says that an empty string in the tree means that the key is absent.
	optional bool
}

func (x text) set(t *Tree, v any) string {
	s, ok := v.(string)
	if !ok {
		return "is " + kind(v) + ", not a text"
	}
	if reason := x.refused(s); reason != "" {
		return reason
	}
	*x.at(t) = s
	return ""
}

func (x text) check(t *Tree) string {
	s := *x.at(t)
	if s == "" && x.optional {
		return ""
	}
	return x.refused(s)
}

const (
	maxCronLength   = 255
	maxSchemaLength = 63 // PostgreSQL cuts longer identifiers without a word
)

// checkCron leaves the grammar to the scheduler.
func checkCron(s string) string {
	if strings.TrimSpace(s) == "" {
		return "is blank"
	}
	if len(s) > maxCronLength || s != fault.Clean(s, maxCronLength) {
		return "is longer than 255 bytes or has characters that no schedule has"
	}
	return ""
}

// checkSchema accepts what PostgreSQL takes as a quoted name and does not reserve.
func checkSchema(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is blank; leave the key out to use the default schema of the connection"
	case len(s) > maxSchemaLength:
		return "is longer than 63 bytes"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "has characters that no schema name has"
	case strings.Contains(s, "."):
		return "has a dot; it must be the name of one schema"
	case strings.HasPrefix(s, "pg_"), s == "information_schema", s == "$user":
		return "is reserved by PostgreSQL"
	}
	return ""
}
