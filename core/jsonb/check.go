package jsonb

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// MaxBytes is the largest document that [Check] accepts: 64 MiB.
const MaxBytes = 64 << 20

const maxDepth = 1000 // PostgreSQL's parser is recursive and limited by its stack

// Check says why a document cannot be stored as JSONB without loss, as the end of a
// sentence about it ("is not valid JSON"), or returns "". It never quotes the document.
func Check(doc []byte) string {
	switch {
	case len(doc) > MaxBytes:
		return "is larger than 64 MiB"
	case !utf8.Valid(doc):
		return "is not valid UTF-8"
	case !json.Valid(doc):
		return "is not valid JSON"
	}
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			end, reason := checkString(doc, i+1)
			if reason != "" {
				return reason
			}
			i = end
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return "is nested more than 1000 levels deep"
			}
		case c == '}' || c == ']':
			depth--
		case numeric(c):
			end, ok := checkNumber(doc, i)
			if !ok {
				return "has a number out of range"
			}
			i = end
		}
	}
	return ""
}

// checkString looks for escapes that JSONB refuses; i is the first byte after the
// opening quote, and the result is the index of the closing one.
func checkString(doc []byte, i int) (int, string) {
	for ; doc[i] != '"'; i++ {
		if doc[i] != '\\' {
			continue
		}
		if i++; doc[i] != 'u' {
			continue // a two-character escape; the escaped byte is skipped by the loop
		}
		r := hex4(doc[i+1:])
		i += 4
		switch {
		case r == 0:
			return i, "has the character U+0000, which cannot be stored"
		case r >= 0xdc00 && r <= 0xdfff:
			return i, "has an unpaired surrogate, which cannot be stored"
		case r >= 0xd800 && r <= 0xdbff:
			if doc[i+1] != '\\' || doc[i+2] != 'u' {
				return i, "has an unpaired surrogate, which cannot be stored"
			}
			if low := hex4(doc[i+3:]); low < 0xdc00 || low > 0xdfff {
				return i, "has an unpaired surrogate, which cannot be stored"
			}
			i += 6
		}
	}
	return i, ""
}

func hex4(b []byte) uint64 {
	v, _ := strconv.ParseUint(string(b[:4]), 16, 32) // four hex digits, checked by json.Valid
	return v
}
