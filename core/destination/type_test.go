package destination_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in     string
		reason string // empty when accepted
	}{
		{"KAFKA", ""},
		{"a", ""},
		{"Z", ""},
		{"0", ""},
		{"9", ""},
		{"_", ""},
		{"-", ""},
		{"webhook-v2_eu", ""},
		{strings.Repeat("x", destination.MaxTypeLength), ""},
		{strings.Repeat("x", destination.MaxTypeLength+1), "is longer"},
		{"", "is empty"},
		{" ", "has a character"},
		{"A B", "has a character"},
		{"A.B", "has a character"},
		{"é", "has a character"},
		{"A\x00", "has a character"},
		{"A\n", "has a character"},
		{"\xff", "has a character"},
		// The neighbours of the permitted ranges in ASCII.
		{"@", "has a character"},
		{"[", "has a character"},
		{"`", "has a character"},
		{"{", "has a character"},
		{"/", "has a character"},
		{":", "has a character"},
		{",", "has a character"},
		{"^", "has a character"},
	} {
		got, err := destination.ParseType(c.in)
		if c.reason == "" {
			if err != nil || got.String() != c.in {
				t.Errorf("ParseType(%q) = %q, %v", c.in, got, err)
			}
			continue
		}
		if !fault.IsInvalid(err) || !strings.Contains(err.Error(), "destination type "+c.reason) {
			t.Errorf("ParseType(%q): %v, want an error that it %s", c.in, err, c.reason)
		}
	}
}

func TestKnownTypesAreValid(t *testing.T) {
	t.Parallel()
	for _, known := range []destination.Type{destination.Service, destination.DelayedJob, destination.Kafka, destination.HTTP} {
		if err := known.Validate(); err != nil {
			t.Errorf("%s: %v", known, err)
		}
	}
}

// FuzzParseType compares with the rule as a pattern, and looks for the value in the error.
func FuzzParseType(f *testing.F) {
	for _, seed := range []string{"", "KAFKA", "a-b_c", strings.Repeat("x", 33), "\xff", "a\nb", "日本"} {
		f.Add(seed)
	}
	rule := regexp.MustCompile(`\A[A-Za-z0-9_-]{1,32}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		_, err := destination.ParseType(s)
		if (err == nil) != rule.MatchString(s) {
			t.Errorf("ParseType(%q): %v", s, err)
		}
		if err != nil && len(s) > destination.MaxTypeLength && strings.Contains(err.Error(), s) {
			t.Error("the error repeats the value")
		}
	})
}
