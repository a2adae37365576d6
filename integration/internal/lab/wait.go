package lab

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a test waits for something that should take a moment: it only ends tests that hang.
const Patience = time.Minute

// Eventually waits until done returns true, and ends the test if that takes longer than [Patience].
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", Patience, what)
		}
	}
}

// Receive waits for a value.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(Patience):
		t.Fatalf("waited %v in vain: %s", Patience, what)
		panic("unreachable")
	}
}

// Context ends with the test, or when the test hangs.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
