package kafkapipeline_test

import (
	"context"
	"io"
	"testing"

	"github.com/satchel-go/satchel/postgrestest"
	"github.com/satchel-go/satchel/servers/kafkaserver"

	"github.com/satchel-go/satchel/examples/snippets/internal/check"
	"github.com/satchel-go/satchel/examples/snippets/kafkapipeline"
)

func TestRun(t *testing.T) {
	t.Parallel()
	db := postgrestest.New(t)
	cluster, err := kafkaserver.Find(t.Context(), kafkaserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(cluster.String())
	t.Cleanup(func() {
		if err := cluster.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	check.Output(t, func(ctx context.Context, out io.Writer) error {
		return kafkapipeline.Run(ctx, db.URL, cluster.Brokers, db.Name, out) // a topic of its own
	},
		"records: 4, bookings: 1999, 500",
	)
}
