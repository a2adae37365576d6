package migrator

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// generously more than the second for which a migration may hold up writers, for a slow and busy machine
const longestBlock = 5 * time.Second

// A populated version 1 is migrated while version 1 publishers go on writing.
func TestUpgradeOfAMillionRowsUnderLoad(t *testing.T) {
	db := newDatabase(t)
	applyUpTo(t, db, version1)
	const rows = 1_000_000
	execSQL(t, db, `INSERT INTO outbox (carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type,
			payload, state, claimed_at, claimed_by, published_at, updated_at)
		SELECT gen_random_uuid(), 'Order', 'a' || i % 50000, 'created', 'orders', 'KAFKA', jsonb_build_object('n', i), state,
			CASE WHEN state = 'PROCESSING' THEN now() - interval '1 hour' END,
			CASE WHEN state = 'PROCESSING' AND i % 5 <> 0 THEN 'node-' || i / 999 % 3 END,
			CASE WHEN state = 'PUBLISHED' AND i % 7 <> 0 THEN now() - interval '2 days' END,
			now() - interval '1 day'
		FROM (SELECT i, CASE WHEN i % 999 = 0 THEN 'PROCESSING' WHEN i % 100 = 1 THEN 'DEAD_LETTER'
			WHEN i % 4 = 0 THEN 'PENDING' ELSE 'PUBLISHED' END AS state FROM generate_series(1, $1::int) i) s`, rows)
	before := stateCounts(t, db)
	orphans := value[int](t, db, `SELECT count(*) FROM outbox WHERE state = 'PROCESSING' AND claimed_by IS NULL`)

	stop, writer := startWriter(t, db)
	var log bytes.Buffer
	err := Apply(testContext(t), db, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	stop()
	t.Logf("%s%d inserts went on, the longest took %v", log.String(), writer.inserts.Load(), writer.longest)
	if err != nil {
		t.Fatal(err)
	}
	if writer.err != nil {
		t.Errorf("a version 1 insert failed: %v", writer.err)
	}
	if writer.longest > longestBlock {
		t.Errorf("the longest insert took %v", writer.longest)
	}
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}

	inserts := int(writer.inserts.Load())
	if n := value[int](t, db, `SELECT count(*) FROM outbox`); n != rows+inserts {
		t.Errorf("%d rows, want %d", n, rows+inserts)
	}
	after := stateCounts(t, db)
	before["PENDING"] += inserts + orphans
	before["PROCESSING"] -= orphans
	for state, n := range before {
		if after[state] != n {
			t.Errorf("%d rows are %s, want %d", after[state], state, n)
		}
	}
	for problem, query := range map[string]string{
		"unsettled but finished":          `SELECT count(*) FROM outbox WHERE (published_at IS NULL AND dead_lettered_at IS NULL) <> (state IN ('PENDING', 'PROCESSING'))`,
		"died at another time than noted": `SELECT count(*) FROM outbox WHERE state = 'DEAD_LETTER' AND dead_lettered_at IS DISTINCT FROM updated_at`,
		"published_at was replaced":       `SELECT count(*) FROM outbox WHERE state = 'PUBLISHED' AND id % 7 <> 0 AND published_at > now() - interval '47 hours'`,
		"claimed without a lease":         `SELECT count(*) FROM outbox o WHERE state = 'PROCESSING' AND NOT EXISTS (SELECT 1 FROM outbox_lease l WHERE l.id = o.lease_id AND l.owner = o.claimed_by AND o.id = ANY (l.entry_ids))`,
		"claims not counted":              `SELECT count(*) FROM outbox WHERE claims <> CASE WHEN state = 'PROCESSING' THEN 1 ELSE 0 END`,
		"not exactly one lease per owner": `SELECT abs(count(*) - 3) + abs(count(DISTINCT owner) - 3) FROM outbox_lease`,
		"lease too long or past":          `SELECT count(*) FROM outbox_lease WHERE expires_at NOT BETWEEN created_at + interval '29 seconds' AND created_at + interval '31 seconds'`,
	} {
		if n := value[int](t, db, query); n != 0 {
			t.Errorf("%s: %d", problem, n)
		}
	}
}

// The backfill may be repeated for what a version 1 relay touched later.
func TestBackfillCanBeRepeated(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	for _, state := range []string{"PROCESSING", "DEAD_LETTER", "PUBLISHED"} {
		execSQL(t, db, `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload, state, claimed_by)
			VALUES (gen_random_uuid(), 'e', 'd', 'KAFKA', '1', $1, 'old-node')`, state)
	}
	const name = "20260201000002_backfill_settled_and_leased.sql"
	dir, err := directory(upTo(t, version2))
	if err != nil {
		t.Fatal(err)
	}
	files, err := dir.Files()
	if err != nil {
		t.Fatal(err)
	}
	const fingerprint = `SELECT string_agg(concat_ws(',', id, state, lease_id, claims, published_at = updated_at, dead_lettered_at = updated_at), ';' ORDER BY id)
		|| (SELECT count(*) FROM outbox_lease) FROM outbox`
	for range 2 {
		for _, file := range files {
			if file.Name() == name {
				execSQL(t, db, string(file.Bytes()))
			}
		}
		if got := value[string](t, db, fingerprint); got != "1,PROCESSING,1,1;2,DEAD_LETTER,0,t;3,PUBLISHED,0,t1" {
			t.Errorf("after the backfill: %s", got)
		}
	}
}

func stateCounts(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, state := range []string{"PENDING", "PROCESSING", "PUBLISHED", "DEAD_LETTER"} {
		counts[state] = value[int](t, db, `SELECT count(*) FROM outbox WHERE state = $1`, state)
	}
	return counts
}

// load is what a writer in the background experienced; longest and err may be read after it was stopped.
type load struct {
	inserts atomic.Int64
	longest time.Duration
	err     error
}

// startWriter keeps inserting as a version 1 publisher does, until stop is called.
func startWriter(t *testing.T, db *sql.DB) (stop func(), l *load) {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	l = &load{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			start := time.Now()
			// The insert itself is not cancelled, so that every one is either counted or failed.
			if _, err := db.ExecContext(context.WithoutCancel(ctx), insertV1, "written meanwhile"); err != nil {
				l.err = err
				return
			}
			l.inserts.Add(1)
			l.longest = max(l.longest, time.Since(start))
		}
	}()
	return func() { cancel(); <-done }, l
}
