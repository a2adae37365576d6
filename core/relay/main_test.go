package relay_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the package when goroutines of this module are left over.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(5 * time.Second); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked waits until no goroutine but the caller's runs code of this module, and
// returns the stacks of those that still do.
func leaked(patience time.Duration) string {
	deadline := time.Now().Add(patience)
	for {
		var left []string
		buf := make([]byte, 1<<20)
		for i, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if i > 0 && strings.Contains(stack, "satchel/core/") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
