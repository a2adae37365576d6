package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/storetest"
)

// incomplete are harnesses that lack something, with what the suite says of them.
var incomplete = map[string]struct {
	harness storetest.Harness
	says    string
}{
	"nothing":       {storetest.Harness{}, "the harness lacks New"},
	"only features": {storetest.Harness{Features: storetest.Features{Runs: true}}, "the harness lacks New"},
}

const incompleteEnv = "STORETEST_INCOMPLETE"

// TestIncompleteHarness: a harness that cannot be run fails the test and does not panic.
func TestIncompleteHarness(t *testing.T) {
	t.Parallel()
	for name, c := range incomplete {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A failing test cannot be observed from inside: it runs in another process.
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestRunIncomplete$")
			cmd.Env = append(os.Environ(), incompleteEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if text := string(out); err == nil || !strings.Contains(text, c.says) || strings.Contains(text, "panic") {
				t.Errorf("it ended with %v:\n%s", err, text)
			}
		})
	}
}

// TestRunIncomplete is the other process.
func TestRunIncomplete(t *testing.T) {
	c, ok := incomplete[os.Getenv(incompleteEnv)]
	if !ok {
		t.Skip("runs as a part of TestIncompleteHarness")
	}
	storetest.Run(t, c.harness)
}
