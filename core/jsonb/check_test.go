package jsonb_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/jsonb"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func digits(n int) string { return strings.Repeat("7", n) }

func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		invalid   = "is not valid JSON"
		encoding  = "is not valid UTF-8"
		null      = "has the character U+0000, which cannot be stored"
		surrogate = "has an unpaired surrogate, which cannot be stored"
		number    = "has a number out of range"
		deep      = "is nested more than 1000 levels deep"
	)
	for _, c := range []struct{ doc, want string }{
		{`null`, ""},
		{`""`, ""},
		{`{}`, ""},
		{`[]`, ""},
		{` [ 1 , "a" ] `, ""},
		{`true`, ""},
		{`false`, ""},
		{``, invalid},
		{` `, invalid},
		{`{`, invalid},
		{`{} {}`, invalid},
		{`{"a":1,}`, invalid},
		{`NaN`, invalid},
		{`'a'`, invalid},
		{`"\x"`, invalid},
		{`"\u12"`, invalid},
		{"\"\x00\"", invalid},
		{"\"\n\"", invalid},
		{"\ufeff1", invalid},
		{"\"\xff\"", encoding},
		{"\"\xed\xa0\x80\"", encoding},
		// Escapes that JSONB refuses, and what only looks like them.
		{`"\u0000"`, null},
		{`{"\u0000":1}`, null},
		{`["a","b\u0000"]`, null},
		{`"\\\u0000"`, null},
		{`"\\u0000"`, ""},
		{`"\\\\u0000"`, ""},
		{`"\u0001"`, ""},
		{`"\"\u00e9\/"`, ""},
		{`"\u00000"`, null},
		{`"\ud83d\ude00"`, ""},
		{`"\uD83D\uDE00"`, ""},
		{`"\ud800\udc00"`, ""},
		{`"\udbff\udfff"`, ""},
		{`"\ud7ff\ue000"`, ""},
		{`"\ud800"`, surrogate},
		{`"\udbff"`, surrogate},
		{`"\udc00"`, surrogate},
		{`"\udfff"`, surrogate},
		{`"\ud800\ud800"`, surrogate},
		{`"\ud800x"`, surrogate},
		{`"\ud800\n"`, surrogate},
		{`"\ud800\\udc00"`, surrogate},
		{`"\ud83d\ude00\ude00"`, surrogate},
		{`"\ud800\u0041"`, surrogate},
		{`"\ud800\ue000"`, surrogate},
		// Numbers: what PostgreSQL's numeric holds, at its bounds.
		{`0`, ""},
		{`-0`, ""},
		{`1e3`, ""},
		{`1E-7`, ""},
		{`1e+400`, ""},
		{`-1.5e400`, ""},
		{`[1e1,2e2]`, ""},
		{`1e131071`, ""},
		{`1e131072`, number},
		{`10e131070`, ""},
		{`10e131071`, number},
		{`1e-16383`, ""},
		{`1e-16384`, number},
		{`1.5e-16382`, ""},
		{`1.5e-16383`, number},
		{digits(131072), ""},
		{digits(131073), number},
		{`0.` + digits(16383), ""},
		{`0.` + digits(16384), number},
		{`1e99999999999999999999`, number},
		{`-1e-99999999999999999999`, number},
		{`{"a":[1e200000]}`, number},
		{`1e000000000000000000005`, ""},
		{`0.` + digits(20000) + `e5000`, ""},
		// An e that is no exponent, digits that are no number.
		{`"1e200000"`, ""},
		{`{"1e200000":true}`, ""},
		{`[true,false,null]`, ""},
		{`"\u00e9e9"`, ""},
		{nested(1000), ""},
		{nested(1001), deep},
		{strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000), ""},
		{`"` + strings.Repeat("[", 2000) + `"`, ""},
		{`[` + strings.Repeat(`[],`, 2000) + `1]`, ""},
	} {
		if got := jsonb.Check([]byte(c.doc)); got != c.want {
			t.Errorf("Check(%.60q) = %q, want %q", c.doc, got, c.want)
		}
	}
}

// TestCheckSize uses a document that is wrong at its first byte, since reading 64 MiB
// of a right one takes long under the race detector: the reason tells the two apart.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	doc := make([]byte, jsonb.MaxBytes+1)
	if got := jsonb.Check(doc[:jsonb.MaxBytes]); got != "is not valid JSON" {
		t.Errorf("largest document: %q", got)
	}
	if got := jsonb.Check(doc); got != "is larger than 64 MiB" {
		t.Errorf("larger document: %q", got)
	}
}
