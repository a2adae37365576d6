package delayedjobs_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"
	"github.com/satchel-go/satchel/servers/redisserver"

	"github.com/satchel-go/satchel/examples/snippets/delayedjobs"
	"github.com/satchel-go/satchel/examples/snippets/internal/check"
)

func TestRun(t *testing.T) {
	t.Parallel()
	db := postgrestest.New(t)
	server, err := redisserver.Find(t.Context(), redisserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(server.String())
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	check.Output(t, func(ctx context.Context, out io.Writer) error {
		return delayedjobs.Run(ctx, db.URL, server.URL, db.Name, out) // a queue of its own
	},
		"invoice for order-1",
	)
}
