package storetest_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/internal/elsewhere"
	"github.com/satchel-go/satchel/core/storetest"
)

// incomplete are harnesses that lack something, with what the suite says of them.
var incomplete = map[string]struct {
	harness storetest.Harness
	says    string
}{
	"nothing": {storetest.Harness{}, "the harness lacks New"},
	"unknown topic": {
		storetest.Harness{Topics: []string{"Publish", "Polish"}, New: func(*testing.T) storetest.Fixture { return storetest.Fixture{} }},
		`the harness names the topic "Polish", which there is not`,
	},
	"only features": {storetest.Harness{Features: storetest.Features{Runs: true}}, "the harness lacks New"},
}

// TestIncompleteHarness: a harness that cannot be run fails the test and does not panic.
func TestIncompleteHarness(t *testing.T) {
	t.Parallel()
	if name := elsewhere.Case(); name != "" {
		storetest.Run(t, incomplete[name].harness)
		return
	}
	for name, c := range incomplete {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := elsewhere.Run(t, name, ""); err == nil || !strings.Contains(out, c.says) || strings.Contains(out, "panic") {
				t.Errorf("it ended with %v:\n%s", err, out)
			}
		})
	}
}
