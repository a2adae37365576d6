package text_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/internal/text"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("\U0001F600", text.MaxLength)
	for _, c := range []struct {
		value string
		want  text.Problem
	}{
		{"a", text.None},
		{" a ", text.None},
		{"a\nb", text.None},
		{wide, text.None},
		{strings.Repeat("x", text.MaxLength), text.None},
		{"", text.Empty},
		{" ", text.Blank},
		{" \t\n\u00a0", text.Blank},
		{"\xff", text.NotUTF8},
		{"a\xe2\x28", text.NotUTF8},
		{"\xff\x00", text.NotUTF8},
		{"a\x00b", text.NUL},
		{wide + "\x00", text.NUL},
		{wide + "x", text.TooLong},
		{strings.Repeat("x", text.MaxLength+1), text.TooLong},
	} {
		if got := text.Check(c.value); got != c.want {
			t.Errorf("%.10q %q, want that it %q", c.value, got, c.want)
		}
	}
	if want := " " + strconv.Itoa(text.MaxLength) + " "; !strings.Contains(string(text.TooLong), want) {
		t.Errorf("%q does not name the bound%s", text.TooLong, want)
	}
}
