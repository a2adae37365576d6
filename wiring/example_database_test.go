package wiring_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/internal/testdb"
)

// emptyDatabase returns the URL of an empty database, which done removes.
func emptyDatabase() (url wiring.Secret, done func()) {
	e := &example{}
	return testdb.Empty(e), e.end
}

// example is the testing.TB of an example, which has no test behind it.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
