package takeover_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"

	"github.com/satchel-go/satchel/examples/snippets/internal/check"
	"github.com/satchel-go/satchel/examples/snippets/takeover"
)

func TestRun(t *testing.T) {
	t.Parallel()
	url := postgrestest.New(t).URL
	check.Output(t, func(ctx context.Context, out io.Writer) error { return takeover.Run(ctx, url, out) },
		"refused: true",
		"as it should be: true",
		`order.confirmed to orders: {"order": 7}`,
	)
}
