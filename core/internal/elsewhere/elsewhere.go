// Package elsewhere runs a test once more in another process, in which it is to fail:
// the failure of a test cannot be observed from inside.
package elsewhere

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// variable names the case of the other process in its environment.
const variable = "SATCHEL_TEST_ELSEWHERE"

// deadline is far more than any case takes.
const deadline = 3 * time.Minute

// Case returns the case that this process runs, and "" in the process that observes.
func Case() string { return os.Getenv(variable) }

// Run runs the test that t belongs to, from its root, for one case, as far as its
// subtests match where, and returns what it printed and how it ended.
func Run(t *testing.T, name, where string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+Root(t)+"$/^"+where)
	cmd.Env = append(os.Environ(), variable+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Root returns the name of the test that t belongs to, without subtests.
func Root(t *testing.T) string {
	root, _, _ := strings.Cut(t.Name(), "/")
	return root
}
