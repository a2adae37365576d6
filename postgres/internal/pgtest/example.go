package pgtest

import (
	"fmt"
	"slices"
	"testing"
)

// Example returns a testing.TB for an example, which has no test behind it: a failure is a
// panic. end runs what was registered for the end.
func Example() (tb testing.TB, end func()) {
	e := &example{}
	return e, e.end
}

type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}
