// Package absent recognises a value of an interface that has nothing in it, so that a
// constructor can refuse it instead of panicking at the first call.
package absent

import "reflect"

// Is reports whether v is nil, a nil pointer or a nil function.
func Is(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	default: // the methods of a nil map, slice or channel may well work
		return false
	}
}
