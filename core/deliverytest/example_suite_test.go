package deliverytest_test

import (
	"testing"

	"github.com/satchel-go/satchel/core/deliverytest"
)

// TestExample: the handler that the documentation shows passes the suite.
func TestExample(t *testing.T) {
	t.Parallel()
	deliverytest.Run(t, harness())
}
