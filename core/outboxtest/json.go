package outboxtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
)

// sameJSON reports whether two documents mean the same. Numbers are compared by value and
// not as floats, which would take two large ids for one.
func sameJSON(a, b []byte) bool {
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && same(x, y)
}

func decode(doc []byte) (v any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	err = decoder.Decode(&v)
	return v, err
}

func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a.String(), b.String()))
	}
	return a == b // nil, bool, string
}

func sameNumber(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}
