package publishlock_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"

	"github.com/satchel-go/satchel/examples/snippets/internal/check"
	"github.com/satchel-go/satchel/examples/snippets/publishlock"
)

func TestRun(t *testing.T) {
	t.Parallel()
	url := postgrestest.New(t).URL
	check.Output(t, func(ctx context.Context, out io.Writer) error { return publishlock.Run(ctx, url, out) },
		`order.placed to orders: "order-42"`,
		`order.paid to orders: "order-42"`,
		`order.shipped to orders: "order-42"`,
	)
}
