package jsonb_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/jsonb"
)

// The slow and plain way to the same answer: cut a valid document into its strings and
// the rest, and look at each with a pattern.
var (
	literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	escape  = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|[^u])`)
	numbers = regexp.MustCompile(`-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?`)
)

func plainCheck(doc string) (ok bool) {
	if !utf8.ValidString(doc) || !json.Valid([]byte(doc)) {
		return false
	}
	for _, s := range literal.FindAllString(doc, -1) {
		if !plainString(s) {
			return false
		}
	}
	rest := literal.ReplaceAllString(doc, `""`)
	depth := 0
	for _, c := range rest {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > 1000 {
			return false
		}
	}
	for _, m := range numbers.FindAllStringSubmatch(rest, -1) {
		shift := 0
		if m[3] != "" {
			var err error
			if shift, err = strconv.Atoi(m[3]); err != nil {
				return false // out of the range of int, far out of that of numeric
			}
		}
		if float64(len(m[1]))+float64(shift) > 131072 || float64(len(m[2]))-float64(shift) > 16383 {
			return false
		}
	}
	return true
}

// plainString looks at the escapes of a literal one after another; two that stand
// beside each other have nothing between their positions.
func plainString(s string) bool {
	high := -1 // where a low surrogate has to follow
	for _, at := range escape.FindAllStringSubmatchIndex(s, -1) {
		if at[2] < 0 {
			if high >= 0 {
				return false
			}
			continue
		}
		v, _ := strconv.ParseUint(s[at[2]:at[3]], 16, 32)
		low := v >= 0xdc00 && v <= 0xdfff
		if v == 0 || low != (high == at[0]) || high >= 0 && high != at[0] {
			return false
		}
		high = -1
		if v >= 0xd800 && v <= 0xdbff {
			high = at[1]
		}
	}
	return high < 0
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,"x"]}`, `"\u0000"`, `"\\u0000"`, `"\ud83d\ude00"`, `"\ud83d\n"`, `"\udc00"`, `1e131072`, `1e-16384`,
		`[[[]]]`, "\"\xff\"", `{"e1":true}`, ` `, `"\ud800\ud800\udc00"`, `-0.0E+0`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		got := jsonb.Check([]byte(doc))
		if (got == "") != plainCheck(doc) {
			t.Fatalf("Check(%q) = %q, the plain way says %v", doc, got, plainCheck(doc))
		}
		if got != "" && len(doc) > 8 && strings.Contains(got, doc) {
			t.Error("the reason quotes the document")
		}
		if got != "" {
			return
		}
		// What passes survives a decoder that keeps digits.
		var v any
		d := json.NewDecoder(strings.NewReader(doc))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("a document that passed does not decode: %v", err)
		}
		again, err := json.Marshal(v)
		if err != nil || jsonb.Check(again) != "" {
			t.Errorf("%q became %q, which does not pass: %v", doc, again, err)
		}
	})
}
