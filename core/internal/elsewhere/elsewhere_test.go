package elsewhere_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/internal/elsewhere"
)

// TestRun runs itself: one case fails in the other process, one does not, and a part
// that was not asked for does not run.
func TestRun(t *testing.T) {
	t.Parallel()
	if name := elsewhere.Case(); name != "" {
		t.Run("wanted", func(t *testing.T) {
			if name == "bad" {
				t.Error("as it should")
			}
		})
		t.Run("other", func(t *testing.T) { t.Error("nobody asked for this") })
		return
	}
	out, err := elsewhere.Run(t, "bad", "wanted")
	if err == nil || !strings.Contains(out, "--- FAIL: TestRun/wanted") || !strings.Contains(out, "as it should") || strings.Contains(out, "nobody") {
		t.Errorf("the case that fails: %v\n%s", err, out)
	}
	if out, err := elsewhere.Run(t, "good", "wanted"); err != nil {
		t.Errorf("the case that does not fail: %v\n%s", err, out)
	}
}
