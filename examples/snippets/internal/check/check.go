// Package check runs an example and compares what it printed.
package check

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// Output fails the test unless run prints the wanted lines and returns nil.
func Output(t *testing.T, run func(ctx context.Context, out io.Writer) error, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, &out); err != nil {
		t.Fatalf("%v\nafter printing:\n%s", err, out.String())
	}
	if got := strings.TrimSuffix(out.String(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it printed:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}
