package cluster

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/listener"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Two relays of one process, each in a schema of its own, share a pool, a listener and even the ids of their entries.
func TestSchemasDoNotMix(t *testing.T) {
	s := newStage(t)
	l := lab.Listen(t, s.db, listener.Config{})
	const rows = 30
	schemas := []string{"Select", `sixty-three "bytes" of a name that nobody would choose, but can !!`}
	got := make([]chan string, len(schemas))
	stores := make([]*postgres.Store, len(schemas))
	for i, schema := range schemas {
		if len(schema) > 63 {
			schema = schema[:63]
			schemas[i] = schema
		}
		s.db.Migrate(t, schema)
		store, err := postgres.NewStore(s.pool, postgres.Config{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		stores[i], got[i] = store, make(chan string, 2*rows)
		lab.Relay(t, store, relay.Config{Waker: l}, lab.Handle(func(_ context.Context, e delivery.Envelope) error {
			got[i] <- fmt.Sprint(e.ID, " ", e.Destination)
			return nil
		}))
	}
	ctx := lab.Context(t)
	for i, schema := range schemas {
		pub, err := pgxtx.NewPublisher(pgxtx.Config{Schema: schema}, outbox.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			e := lab.Entry("a", 1)
			e.Destination = fmt.Sprint("schema ", i)
			if err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
				_, err := pub.Publish(ctx, tx, e)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range schemas {
		for n := 1; n <= rows; n++ {
			if have, want := lab.Receive(t, "a delivery", got[i]), fmt.Sprintf("%d schema %d", n, i); have != want {
				t.Fatalf("schema %d got entry %s, want %s", i, have, want)
			}
		}
	}
	table := func(i int) string { return pgx.Identifier{schemas[i], "outbox"}.Sanitize() }
	for i := range schemas {
		lab.Eventually(t, "all are settled", func() bool {
			return lab.Value[int](t, s.pool, `SELECT count(*) FROM `+table(i)+` WHERE published_at IS NOT NULL`) == rows
		})
	}
	for i := range schemas {
		if _, err := s.pool.Exec(ctx, `UPDATE `+table(i)+` SET published_at = published_at - interval '8 days'`); err != nil {
			t.Fatal(err)
		}
	}
	report, err := maintenance.Cleanup{Store: stores[0]}.Run(ctx)
	if err != nil || report.Published.Deleted != rows {
		t.Errorf("cleanup: %+v, %v", report, err)
	}
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM `+table(1)); n != rows {
		t.Errorf("cleaning up one schema left %d entries in the other", n)
	}
	if len(got[0])+len(got[1]) != 0 {
		t.Error("something was delivered twice")
	}
	for _, bad := range []string{"a.b", "pg_mine", " ", "x\x00y", "a234567890b234567890c234567890d234567890e234567890f234567890g234"} {
		if _, err := postgres.NewStore(s.pool, postgres.Config{Schema: bad}); !fault.IsInvalid(err) {
			t.Errorf("schema %q: %v", bad, err)
		}
	}
}
