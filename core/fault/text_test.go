package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
)

type panicking struct{ text *string }

func (p *panicking) Error() string { return *p.text }

func TestText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", fault.MaxTextLength)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"plain", errors.New("broker down"), "broker down"},
		{"control characters", errors.New("a\x00b\nc\td\x7f\u0085"), "a_b_c_d__"},
		{"invalid UTF-8", errors.New("a\xffb"), "a\ufffdb"},
		{"at the limit", errors.New(long), long},
		{"over the limit", errors.New(long + "x"), long},
		{"empty", errors.New(""), ""},
		{"a panic", &panicking{}, "an error whose text could not be read"},
		{"a typed nil", (*panicking)(nil), "an error whose text could not be read"},
		{"a panic inside", fmt.Errorf("outer: %w", errors.New("inner")), "outer: inner"},
	} {
		if got := fault.Text(c.err); got != c.want {
			t.Errorf("%s: %.40q, want %.40q", c.name, got, c.want)
		}
	}
}

func TestCleanBounds(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{0: "", 1: "a", 2: "aé", 3: "aé😀", 4: "aé😀_", 5: "aé😀_", 100: "aé😀_"} {
		if got := fault.Clean("aé😀\n", limit); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}

// FuzzClean checks what every store and every log may rely on.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\x00b", "\xff\xfe", "é😀\u2028\u202e", strings.Repeat("\xf0\x9f", 50)} {
		f.Add(seed, 3)
		f.Add(seed, 2000)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit &= 0xfff
		got := fault.Clean(s, limit)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > limit || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("Clean(%q, %d) = %q", s, limit, got)
		}
		if again := fault.Clean(got, limit); again != got {
			t.Errorf("cleaning twice: %q, then %q", got, again)
		}
		plain := utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
		if plain && utf8.RuneCountInString(s) <= limit && got != s {
			t.Errorf("Clean(%q, %d) changed it to %q", s, limit, got)
		}
	})
}
