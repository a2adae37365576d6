package deliverytest_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/internal/elsewhere"
)

// incomplete are harnesses that lack something, with what the suite says of them.
var incomplete = map[string]struct {
	harness deliverytest.Harness
	says    string
}{
	"nothing":  {deliverytest.Harness{}, "the harness lacks New or Known"},
	"no New":   {deliverytest.Harness{Known: "desk"}, "the harness lacks New or Known"},
	"no Known": {deliverytest.Harness{New: newNotes}, "the harness lacks New or Known"},
	"no verdict": {
		deliverytest.Harness{New: newNotes, Known: "desk", Undecodable: func(e *delivery.Envelope) { e.Payload = []byte("[]") }},
		"the harness has Undecodable without UndecodableVerdict",
	},
}

// TestIncompleteHarness: a harness that cannot be run fails the test and does not panic.
func TestIncompleteHarness(t *testing.T) {
	t.Parallel()
	if name := elsewhere.Case(); name != "" {
		deliverytest.Run(t, incomplete[name].harness)
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
