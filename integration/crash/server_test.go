package crash

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// The server dies twice while two relays and a publisher work. What the publisher was told is committed must arrive; what
// it was not told may or may not, together with its business row.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	server, db := lab.Private(t, nil)
	pool, journal := db.Pool(t), lab.NewJournal(t)
	for i := range 2 {
		node := fmt.Sprint("relay-", i)
		cfg := lab.Fast()
		cfg.Owner = node
		lab.Relay(t, lab.Store(t, pool), cfg, lab.Handle(func(ctx context.Context, e delivery.Envelope) error {
			return journal.Record(ctx, node, e, func(context.Context, int) error {
				time.Sleep(2 * time.Millisecond)
				return nil
			})
		}))
	}
	lab.Recover(t, lab.Store(t, pool), maintenance.Config{MaxClaims: maintenance.MaxMaxClaims})
	var confirmed atomic.Int64
	stop := publishThroughCrashes(t, pool, &confirmed)

	for range 2 {
		before := confirmed.Load()
		lab.Eventually(t, "entries flow", func() bool {
			return confirmed.Load() > before+50 && int64(journal.Count(t, lab.Delivered)) > before+30
		})
		if err := server.Crash(lab.Context(t)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // handlers finish and find nobody to tell
		if err := server.Restart(lab.Context(t)); err != nil {
			t.Fatal(err)
		}
		// What was delivered until now may not have been recorded. Leases of before the crash can still end later.
		lab.Eventually(t, "the old leases are gone", func() bool {
			return lab.Value[int](t, pool, `SELECT count(*) FROM outbox_lease WHERE created_at < pg_postmaster_start_time()`) == 0
		})
		journal.Write(lab.Event{Kind: lab.Amnesty})
	}
	stop()
	lab.Eventually(t, "every entry is settled", func() bool {
		return lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE published_at IS NULL`) == 0
	})
	journal.Check(t, pool, 0)
	if rows := lab.Value[int64](t, pool, `SELECT count(*) FROM business`); rows < confirmed.Load() {
		t.Errorf("%d business rows of %d that were confirmed", rows, confirmed.Load())
	}
}

// publishThroughCrashes publishes one entry after another, and writes one again, under its number, that was not confirmed.
func publishThroughCrashes(t *testing.T, pool *pgxpool.Pool, confirmed *atomic.Int64) (stop func()) {
	p, err := lab.NewPublisher()
	if err != nil {
		t.Fatal(err)
	}
	return lab.Background(t, "publisher", func(ctx context.Context) error {
		for n := 1; ctx.Err() == nil; {
			aggregate := fmt.Sprint("aggregate-", n%7)
			if _, err := p.Write(ctx, pool, nil, lab.Entry(aggregate, n)); err != nil {
				if there := exists(ctx, pool, aggregate, n); !there {
					time.Sleep(20 * time.Millisecond)
					continue
				}
			}
			n++
			confirmed.Add(1)
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

// exists tells whether a commit whose answer was lost took place.
func exists(ctx context.Context, pool *pgxpool.Pool, aggregate string, n int) (there bool) {
	_ = pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM business WHERE aggregate = $1 AND n = $2)`, aggregate, n).Scan(&there)
	return there
}
