package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// bigDatabase has full tables with fresh statistics, or with those of empty tables.
func bigDatabase(t *testing.T, entries int, analysed bool) *pgx.Conn {
	t.Helper()
	ctx := testContext(t)
	conn := pgtest.Disposable(t).Conn(t, "")
	must := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%.60s: %v", sql, err)
		}
	}
	for _, table := range []string{"outbox", "inbox", "outbox_lease"} {
		must("ALTER TABLE " + table + " SET UNLOGGED, SET (autovacuum_enabled = off)") // quicker to fill, planned alike
		must("VACUUM (ANALYZE) " + table)                                              // the statistics say: empty
	}
	rebuild := dropIndexes(ctx, t, conn)
	// Of ten entries seven are published, one is dead, two are unsettled. One in a
	// hundred unsettled ones is in process; half are due, a quarter has no aggregate.
	must(`INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload, available_at, state,
			published_at, dead_lettered_at, lease_id, claims, created_at)
		SELECT lpad(to_hex(i), 32, '0')::uuid, CASE WHEN i % 4 > 0 THEN 'a' || i / 50 % 20000 END, 'e', 'd' || i % 7,
			CASE WHEN i % 3 = 0 THEN 'BETA' ELSE 'ALPHA' END, '{"n":1}', now() + (i - $1 * 0.5) * interval '1 millisecond',
			CASE WHEN i % 10 < 7 THEN 'PUBLISHED' WHEN i % 10 = 7 THEN 'DEAD_LETTER' WHEN i % 1000 = 8 THEN 'PROCESSING' ELSE 'PENDING' END,
			CASE WHEN i % 10 < 7 THEN now() - (i % 20) * interval '1 day' END, CASE WHEN i % 10 = 7 THEN now() - (i % 40) * interval '1 day' END,
			CASE WHEN i % 1000 = 8 THEN i / 1000 % 20 + 1 END, CASE WHEN i % 1000 = 8 THEN 1 ELSE 0 END, now() - (i % 30) * interval '1 day'
		  FROM generate_series(1, $1::int) AS i`, entries)
	must(`INSERT INTO outbox_lease (owner, expires_at, entry_ids)
		SELECT 'r', now() - interval '1 minute', (SELECT array_agg(id) FROM (SELECT id FROM outbox WHERE lease_id = l LIMIT 50) o)
		  FROM generate_series(1, 20) AS l`)
	must(`INSERT INTO inbox SELECT 'm' || i, 's', now() - (i % 60) * interval '1 day' FROM generate_series(1, $1::int / 5) AS i`, entries)
	for _, sql := range rebuild {
		must(sql)
	}
	if analysed {
		must("ANALYZE outbox, inbox, outbox_lease") // a vacuum would depend on what else runs on the server
	}
	return conn
}

// dropIndexes drops what belongs to no constraint and returns how to build it again:
// filling a table without indexes is several times as fast.
func dropIndexes(ctx context.Context, t *testing.T, conn *pgx.Conn) (rebuild []string) {
	t.Helper()
	rows, err := conn.Query(ctx, `SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('outbox', 'inbox') AND schemaname = 'public'
		AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = indexname)`)
	if err != nil {
		t.Fatal(err)
	}
	var drop []string
	var name, definition string
	_, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		drop = append(drop, fmt.Sprintf("DROP INDEX public.%s", name))
		rebuild = append(rebuild, definition)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range drop {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	return rebuild
}
