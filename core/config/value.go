package config

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// Loaders differ in the types they use: one reads 50 as a float64, another as an int,
// a third as a json.Number. These functions see through that, and through nothing
// more: a number in a string is a string.

// maxExact is the largest number up to which a float64 holds every whole number.
const maxExact = 1 << 53

// integer returns v if it is a whole number.
func integer(v any) (int64, bool) {
	if n, ok := v.(json.Number); ok {
		if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
			return i, true
		}
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return 0, false
		}
		v = f
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int(), true
	case r.CanUint():
		return int64(min(r.Uint(), math.MaxInt64)), true
	case r.CanFloat():
		f := r.Float()
		return int64(f), f == math.Trunc(f) && math.Abs(f) <= maxExact
	}
	return 0, false
}

// object returns v if it is a map with strings as keys.
func object(v any) (map[string]any, bool) {
	if m, ok := v.(map[string]any); ok {
		return m, true
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Map || r.Type().Key().Kind() != reflect.String {
		return nil, false
	}
	m := make(map[string]any, r.Len())
	for name, value := range r.Seq2() {
		m[name.String()] = value.Interface()
	}
	return m, true
}

// kind names what v is, in the words of JSON.
func kind(v any) string {
	if _, ok := v.(json.Number); ok {
		return "a number"
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return "null"
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a text"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		if r.CanInt() || r.CanUint() || r.CanFloat() {
			return "a number"
		}
		return "of another type"
	}
}
