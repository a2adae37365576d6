package lab_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
)

func database(t *testing.T, version int) (*lab.Database, *pgx.Conn) {
	t.Helper()
	url := os.Getenv("SATCHEL_DATABASE_URL")
	if url == "" {
		t.Fatal("SATCHEL_DATABASE_URL is not set: run `make test`, which starts a server")
	}
	d, err := lab.Create(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if err := lab.Migrate(t.Context(), conn, version); err != nil {
		t.Fatal(err)
	}
	return d, conn
}

func ask[T any](t *testing.T, conn *pgx.Conn, query string) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestMigrateStopsAtTheVersion(t *testing.T) {
	t.Parallel()
	const tables = `SELECT (to_regclass('outbox') IS NOT NULL)::int + (to_regclass('outbox_lease') IS NOT NULL)::int + (to_regclass('outbox_archive') IS NOT NULL)::int`
	for version := lab.V1; version <= lab.V3; version++ {
		_, conn := database(t, version)
		if got := ask[int](t, conn, tables); got != version {
			t.Errorf("version %d: %d of the tables that tell versions apart", version, got)
		}
	}
}

// What is measured must be the table that users have, not what loading left of it.
func TestLoadPutsIndexesAndTriggersBack(t *testing.T) {
	t.Parallel()
	for _, version := range []int{lab.V1, lab.V3} {
		_, conn := database(t, version)
		const structure = `SELECT string_agg(d, E'\n' ORDER BY d) FROM (
			SELECT split_part(pg_get_indexdef(indexrelid), ' WHERE ', 1) AS d FROM pg_index WHERE indrelid = 'outbox'::regclass
			UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'outbox'::regclass
			UNION ALL SELECT tgname || tgenabled::text FROM pg_trigger WHERE tgrelid = 'outbox'::regclass) s`
		before := ask[string](t, conn, structure)
		err := lab.Load(t.Context(), conn, func(ctx context.Context) error {
			if n := ask[int](t, conn, "SELECT count(*) FROM pg_index WHERE indrelid = 'outbox'::regclass"); n != 0 {
				t.Errorf("%d indexes are in the way while loading", n)
			}
			_, err := conn.Exec(ctx, `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload)
				SELECT gen_random_uuid(), 'e', 'd', 'T', '{}' FROM generate_series(1, 10)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if after := ask[string](t, conn, structure); after != before {
			t.Errorf("version %d: before\n%s\nafter\n%s", version, before, after)
		}
		// The server prints the list in a predicate in another form than it read; what counts is
		// that statements still find the index.
		const heads = `EXPLAIN SELECT min(id) FROM outbox WHERE aggregate_id = 'a' AND state IN ('PENDING', 'PROCESSING')`
		if version == lab.V1 {
			if _, err := conn.Exec(t.Context(), "SET enable_seqscan = off"); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), heads)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || !strings.Contains(strings.Join(plan, "\n"), "idx_outbox_aggregate") {
				t.Errorf("the index of aggregates is not used: %v, %v", plan, err)
			}
		}
		if n := ask[int](t, conn, "SELECT count(*) FROM outbox"); n != 10 {
			t.Errorf("version %d: %d rows, want 10", version, n)
		}
	}
}

func TestLoadReportsWhatFillingSaid(t *testing.T) {
	t.Parallel()
	_, conn := database(t, lab.V1)
	cause := errors.New("no more rows")
	if err := lab.Load(t.Context(), conn, func(context.Context) error { return cause }); !errors.Is(err, cause) {
		t.Errorf("got %v, want the error of filling", err)
	}
}

func TestCountersSeeEarlierUpdates(t *testing.T) {
	t.Parallel()
	_, conn := database(t, lab.V3)
	if _, err := conn.Exec(t.Context(), `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload)
		SELECT gen_random_uuid(), 'e', 'd', 'T', '{}' FROM generate_series(1, 20)`); err != nil {
		t.Fatal(err)
	}
	before, err := lab.ReadCounters(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE outbox SET claims = 1"); err != nil {
		t.Fatal(err)
	}
	after, err := lab.ReadCounters(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.Updates - before.Updates; n != 20 {
		t.Errorf("%d updates were counted, want 20", n)
	}
	if after.HOT-before.HOT == 0 || after.WAL <= before.WAL || after.Heap == 0 || after.Indexes == 0 {
		t.Errorf("counters before %+v, after %+v", before, after)
	}
}

func TestHeldSnapshotKeepsDeadRows(t *testing.T) {
	t.Parallel()
	d, conn := database(t, lab.V3)
	const dead = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'outbox'::regclass"
	if _, err := conn.Exec(t.Context(), `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload)
		SELECT gen_random_uuid(), 'e', 'd', 'T', '{}' FROM generate_series(1, 20)`); err != nil {
		t.Fatal(err)
	}
	release, err := lab.HoldSnapshot(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		statement string
		dead      int
	}{{"DELETE FROM outbox", 20}, {"", 0}} {
		if step.statement == "" {
			release()
			// The server notices the end of the session in its own time.
			for n := 1; n > 0; {
				n = ask[int](t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()")
			}
		} else if _, err := conn.Exec(t.Context(), step.statement); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "VACUUM outbox"); err != nil {
			t.Fatal(err)
		}
		if n := ask[int](t, conn, dead); n != step.dead {
			t.Errorf("%d dead rows after vacuum, want %d", n, step.dead)
		}
	}
}
