package plainsql_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"

	"github.com/satchel-go/satchel/examples/snippets/internal/check"
	"github.com/satchel-go/satchel/examples/snippets/plainsql"
)

func TestRun(t *testing.T) {
	t.Parallel()
	url := postgrestest.New(t).URL
	check.Output(t, func(ctx context.Context, out io.Writer) error { return plainsql.Run(ctx, url, out) },
		"order-1: <nil>",
		"order-2: out of stock",
		"orders: 1 entries: 1",
	)
}
