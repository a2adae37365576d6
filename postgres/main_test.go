package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// testContext ends a test that hangs, generously.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
