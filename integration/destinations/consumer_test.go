package destinations

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// consumption is a consumer with an inbox, whose work leaves a row.
type consumption struct {
	pool        *pgxpool.Pool
	brokers     []string
	topic       string
	propagation *propagation.Set
	also        func(context.Context, pgx.Tx, kafka.Message) error // further work; nil for none
}

func (c *consumption) group() string { return "group-of-" + c.topic }

// run consumes until the test ends. The work keeps no ids: what is done again shows as another row.
func (c *consumption) run(t *testing.T, db *lab.Database) {
	t.Helper()
	db.Exec(t, `CREATE TABLE effect (aggregate text NOT NULL, n int NOT NULL, position bigserial)`)
	processor, err := pgxtx.NewProcessor(pgxtx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := kafkainbox.New(kafkainbox.Config[pgx.Tx]{
		Connection: kafka.Connection{Brokers: c.brokers}, Group: c.group(), Topics: []string{c.topic},
		Processor: processor, Propagation: c.propagation,
		InTx: func(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
			return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error { return fn(ctx, tx) })
		},
		Work: func(ctx context.Context, tx pgx.Tx, m kafka.Message) error {
			_, err := tx.Exec(ctx, `INSERT INTO effect (aggregate, n) VALUES ($1, ($2::jsonb->>'n')::int)`, string(m.Key), string(m.Value))
			if err == nil && c.also != nil {
				err = c.also(ctx, tx, m)
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	lab.Background(t, "consumer", consumer.Run)
}

// check waits for the consumer, and for every repeat to reach it: each entry had its effect once, in order.
func (c *consumption) check(t *testing.T, want int) {
	t.Helper()
	lab.Eventually(t, "the consumer has read everything", func() bool { return caughtUp(t, c.brokers, c.group(), c.topic) })
	if n := lab.Value[int](t, c.pool, `SELECT count(*) FROM effect`); n != want {
		t.Errorf("%d effects of %d entries", n, want)
	}
	if n := lab.Value[int](t, c.pool, `SELECT count(*) FROM (SELECT FROM effect GROUP BY aggregate, n HAVING count(*) <> 1) s`); n != 0 {
		t.Errorf("%d entries had their effect more than once", n)
	}
	if n := lab.Value[int](t, c.pool, `SELECT count(*) FROM (
		SELECT n - lag(n) OVER (PARTITION BY aggregate ORDER BY position) AS step FROM effect) s WHERE step <> 1`); n != 0 {
		t.Errorf("%d effects came out of order", n)
	}
}
