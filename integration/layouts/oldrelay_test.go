package layouts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/schema/migrator"
)

// oldRelay claims and settles by statements of the kind that version 1 was made for: by state alone.
type oldRelay struct{ db *sql.DB }

const oldClaim = `UPDATE outbox SET state = 'PROCESSING', claimed_at = now(), claimed_by = 'old', updated_at = now()
	WHERE id IN (SELECT o.id FROM outbox o
		WHERE o.state = 'PENDING' AND o.available_at <= now() AND (o.scheduled_at IS NULL OR o.scheduled_at <= now())
		  AND o.id = (SELECT min(p.id) FROM outbox p WHERE p.aggregate_id = o.aggregate_id AND p.state IN ('PENDING', 'PROCESSING'))
		ORDER BY o.available_at, o.id LIMIT 5 FOR UPDATE SKIP LOCKED)
	RETURNING id, aggregate_id`

func (o oldRelay) claim(ctx context.Context) (entries []sent, err error) {
	rows, err := o.db.QueryContext(ctx, oldClaim)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e sent
		if err := rows.Scan(&e.id, &e.aggregate); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

func (o oldRelay) settle(ctx context.Context, id int64, state string) error {
	_, err := o.db.ExecContext(ctx, `UPDATE outbox SET state = $2::text, published_at = CASE WHEN $2::text = 'PUBLISHED' THEN now() END, updated_at = now()
		WHERE id = $1 AND state = 'PROCESSING' AND claimed_by = 'old'`, id, state)
	return err
}

type sent struct {
	id        int64
	aggregate string
}

// destinationLog is where both kinds of relay deliver to.
type destinationLog struct {
	mu  sync.Mutex
	all []sent
	by  map[string]int
}

func (d *destinationLog) add(who string, e sent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, e)
	d.by[who]++
}

func (d *destinationLog) Type() destination.Type { return destination.Kafka }
func (d *destinationLog) Scope() claim.Scope     { return claim.All() }
func (d *destinationLog) Deliver(_ context.Context, e delivery.Envelope) error {
	d.add("new", sent{int64(e.ID), e.AggregateID})
	return nil
}

func newStore(t *testing.T, name string) *postgres.Store {
	t.Helper()
	pool, err := pgxpool.New(testContext(t), address(t, name, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// While no maintenance runs, an old relay and a new one share the migrated table: nothing is lost, doubled or out of order.
func TestOldAndNewRelaysSideBySide(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	if err := migrator.Apply(testContext(t), db, migrator.Config{}); err != nil {
		t.Fatal(err)
	}
	const entries = 600
	insert := func(from, to int) {
		execSQL(t, db, `INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload)
			SELECT gen_random_uuid(), 'a' || i % 40, 'e', 'd', 'KAFKA', '1' FROM generate_series($1::int, $2::int) i`, from, to)
	}
	insert(1, entries/2)

	log := &destinationLog{by: map[string]int{}}
	node, err := relay.New(newStore(t, name), []delivery.Handler{log}, relay.Config{BatchSize: 5, PollingInterval: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(testContext(t))
	var running sync.WaitGroup
	running.Go(func() {
		if err := node.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		old := oldRelay{open(t, address(t, name, ""))}
		for ctx.Err() == nil {
			claimed, err := old.claim(context.WithoutCancel(ctx))
			for _, e := range claimed {
				log.add("old", e)
				err = errors.Join(err, old.settle(context.WithoutCancel(ctx), e.id, "PUBLISHED"))
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	insert(entries/2+1, entries)
	waitFor(t, db, fmt.Sprintf(`SELECT count(*) = %d FROM outbox WHERE published_at IS NOT NULL`, entries))
	stop()
	running.Wait()

	last, seen := map[string]int64{}, map[int64]bool{}
	for _, e := range log.all {
		if seen[e.id] {
			t.Errorf("entry %d was delivered twice", e.id)
		}
		if e.id < last[e.aggregate] {
			t.Errorf("entry %d of %s after %d", e.id, e.aggregate, last[e.aggregate])
		}
		last[e.aggregate], seen[e.id] = e.id, true
	}
	if len(seen) != entries || log.by["old"] == 0 || log.by["new"] == 0 {
		t.Errorf("%d of %d delivered, %v", len(seen), entries, log.by)
	}
}

// What an old relay leaves behind: an entry it gave up holds its aggregate up, and one it was delivering waits, until
// maintenance heals both. For the same reason maintenance must not run while an old relay does: it takes its entries away.
func TestMaintenanceHealsWhatOldRelaysLeft(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	if err := migrator.Apply(testContext(t), db, migrator.Config{}); err != nil {
		t.Fatal(err)
	}
	execSQL(t, db, `INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload)
		SELECT gen_random_uuid(), CASE WHEN i <= 2 THEN 'died' ELSE 'stopped' END, 'e', 'd', 'KAFKA', '1' FROM generate_series(1, 4) i`)
	old := oldRelay{db}
	claimed, err := old.claim(testContext(t))
	if err != nil || len(claimed) != 2 {
		t.Fatalf("the old relay claimed %v: %v", claimed, err)
	}
	if err := old.settle(testContext(t), 1, "DEAD_LETTER"); err != nil {
		t.Fatal(err)
	}
	store, log := newStore(t, name), &destinationLog{by: map[string]int{}}
	node, err := relay.New(store, []delivery.Handler{log}, relay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Drain(testContext(t)); err != nil || len(log.all) != 0 {
		t.Fatalf("before healing %v was delivered: %v", log.all, err)
	}
	if _, err := store.Heal(testContext(t), 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Drain(testContext(t)); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(log.all, func(a, b sent) int { return int(a.id - b.id) })
	if got := fmt.Sprint(log.all); got != "[{2 died} {3 stopped} {4 stopped}]" {
		t.Errorf("after healing: %s", got)
	}
	if !value[bool](t, db, `SELECT dead_lettered_at IS NOT NULL FROM outbox WHERE id = 1`) {
		t.Error("the time of death is missing")
	}
}
