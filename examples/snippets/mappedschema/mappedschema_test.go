package mappedschema_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"

	"github.com/satchel-go/satchel/examples/snippets/internal/check"
	"github.com/satchel-go/satchel/examples/snippets/mappedschema"
)

func TestRun(t *testing.T) {
	t.Parallel()
	url := postgrestest.New(t).URL
	check.Output(t, func(ctx context.Context, out io.Writer) error { return mappedschema.Run(ctx, url, out) },
		"order.confirmed to orders: 42",
	)
}
