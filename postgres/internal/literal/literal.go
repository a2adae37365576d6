// Package literal writes PostgreSQL array literals. A parameter of type text that
// holds one, cast in the statement, means the same to every driver and in every
// protocol mode; a Go slice does not.
package literal

import (
	"strconv"
	"strings"
	"time"
)

// Text appends texts one by one and gives the literal of their array.
type Text struct{ b strings.Builder }

// Add appends a text.
func (t *Text) Add(s string) {
	t.next()
	t.b.WriteByte('"')
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			break
		}
		t.b.WriteString(s[:i])
		t.b.WriteByte('\\')
		t.b.WriteByte(s[i])
		s = s[i+1:]
	}
	t.b.WriteString(s)
	t.b.WriteByte('"')
}

// AddOrNull appends a text, or NULL for the empty one.
func (t *Text) AddOrNull(s string) {
	if s == "" {
		t.Null()
		return
	}
	t.Add(s)
}

// Null appends NULL.
func (t *Text) Null() {
	t.next()
	t.b.WriteString("NULL")
}

// AddInt appends a number.
func (t *Text) AddInt(n int) {
	t.next()
	t.b.WriteString(strconv.Itoa(n))
}

// AddTime appends an instant to the microsecond, or NULL for the zero time.
func (t *Text) AddTime(at time.Time) { t.AddOrNull(Time(at)) }

func (t *Text) next() {
	if t.b.Len() == 0 {
		t.b.WriteByte('{')
	} else {
		t.b.WriteByte(',')
	}
}

// String returns the literal.
func (t *Text) String() string {
	if t.b.Len() == 0 {
		return "{}"
	}
	return t.b.String() + "}"
}

// Time writes an instant in a form that means the same in every session, "" for zero.
func Time(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	// Truncation would make an entry due before its time.
	if rest := at.Nanosecond() % 1000; rest != 0 {
		at = at.Add(time.Duration(1000 - rest))
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}
