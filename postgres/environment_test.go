package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// round publishes an entry, claims and settles it, and returns the first error.
func round(ctx context.Context, t *testing.T, p placed, s relay.Session) error {
	t.Helper()
	id := publishing(t, p, alpha("a"))[0]
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		batch, err := s.Claim(ctx, request(10))
		if err != nil {
			return err
		}
		for _, r := range batch.Records {
			o := relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID}
			if recorded, err := s.Settle(ctx, []relay.Outcome{o}, []relay.LeaseID{batch.Lease}); err != nil || !recorded[0] {
				return err
			}
			if r.ID == id {
				return nil
			}
		}
	}
	t.Fatalf("entry %d was not claimed", id)
	return nil
}

// TestTableChangesUnderARelay: a column that is added or widened, or a new index, costs
// a running relay at most one call, in every query mode that caches something.
func TestTableChangesUnderARelay(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]pgx.QueryExecMode{
		"cached": pgx.QueryExecModeCacheStatement, "cached descriptions": pgx.QueryExecModeCacheDescribe, "exec": pgx.QueryExecModeExec,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			d := pgtest.Disposable(t)
			p := placed{d, d.Pool(t, pgtest.Mapped, pgtest.Mode(mode)), pgtest.Mapped}
			s := openStore(t, p).Open(relay.SessionOptions{Owner: "one", OnPublished: relay.Archive})
			quoted := pgx.Identifier{p.schema, "outbox"}.Sanitize()
			for _, change := range []string{
				"SELECT 1",
				"ALTER TABLE " + quoted + " ADD COLUMN extra text",
				"ALTER TABLE " + quoted + " ALTER COLUMN destination TYPE varchar(300)",
				"CREATE INDEX extra ON " + quoted + " (event_type)",
				"ALTER TABLE " + quoted + " DROP COLUMN extra",
				"ALTER TABLE " + pgx.Identifier{p.schema, "outbox_lease"}.Sanitize() + " ADD COLUMN extra text",
			} {
				d.Exec(t, change)
				failures := 0
				for range 3 {
					if err := round(ctx, t, p, s); err != nil {
						t.Logf("%s: %v", change, err)
						failures++
					}
				}
				if failures > 1 {
					t.Errorf("%s: %d calls failed", change, failures)
				}
			}
		})
	}
}

// TestSerializableByDefault: the database's default isolation level is the
// application's business; the store's statements are made for READ COMMITTED.
func TestSerializableByDefault(t *testing.T) {
	t.Parallel()
	topics(t, []string{"Concurrency", "Fencing", "Renew", "Reclaim", "TxDelivery"}, func(t *testing.T) storetest.Fixture {
		p := place(t, pgtest.Mapped, serializable)
		return fixture(t, p, pgxWriter)
	})
}

// TestTwoStoresInOneProcess: same ids, same names, other schema: nothing crosses over.
func TestTwoStoresInOneProcess(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	d := pgtest.New(t)
	pool := d.Pool(t, pgtest.Mapped) // one pool for both, with an empty search_path
	here, there := placed{d, pool, "public"}, placed{d, pool, pgtest.Mapped}
	one, two := openStore(t, here), openStore(t, there)
	x := one.Open(relay.SessionOptions{Owner: "relay"})
	y := two.Open(relay.SessionOptions{Owner: "relay"})
	first, second := publishing(t, here, alpha("a"), alpha("a")), publishing(t, there, alpha("a"))
	if first[0] != second[0] {
		t.Fatalf("the ids differ: %d and %d", first[0], second[0])
	}
	take := func(s relay.Session, want int) relay.Batch {
		t.Helper()
		req := request(10)
		req.RunLength = 10
		batch, err := s.Claim(ctx, req)
		if err != nil || len(batch.Records) != want {
			t.Fatalf("claimed %d entries, want %d: %v", len(batch.Records), want, err)
		}
		return batch
	}
	a, b := take(x, 2), take(y, 1)
	if recorded, err := x.Settle(ctx, []relay.Outcome{{ID: first[0], Lease: a.Lease, Kind: relay.Published, AggregateID: "a"}}, nil); err != nil || !recorded[0] {
		t.Fatalf("settle: %v, %v", recorded, err)
	}
	expectStates(t, here, outbox.Published, outbox.Processing)
	expectStates(t, there, outbox.Processing)
	for _, p := range []placed{here, there} {
		tab := newTable(pool, p.schema)
		if err := tab.AgeLeases(ctx, time.Hour, a.Lease, b.Lease); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := two.Reclaim(ctx, 10, 10); err != nil || r.Returned != 1 {
		t.Errorf("reclaim: %+v, %v", r, err)
	}
	if n, err := two.DeletePublished(ctx, 0, 10); err != nil || n != 0 {
		t.Errorf("deleted %d, %v", n, err)
	}
	expectStates(t, here, outbox.Published, outbox.Processing)
	expectStates(t, there, outbox.Pending)
}

func expectStates(t *testing.T, p placed, want ...outbox.State) {
	t.Helper()
	rows, err := newTable(p.pool, p.schema).Rows(testContext(t))
	if err != nil || len(rows) != len(want) {
		t.Fatalf("%d rows in %s, want %d: %v", len(rows), p.schema, len(want), err)
	}
	for _, r := range rows {
		if r.State != want[r.ID-1] {
			t.Errorf("%s: entry %d is %s, want %s", p.schema, r.ID, r.State, want[r.ID-1])
		}
	}
}

func TestNewStoreRefuses(t *testing.T) {
	t.Parallel()
	if _, err := NewStore(nil, Config{}); !fault.IsInvalid(err) {
		t.Errorf("a nil pool gives %v", err)
	}
	p := place(t, "")
	for _, schema := range []string{" ", "a.b", "pg_catalog", "$user"} {
		if _, err := NewStore(p.pool, Config{Schema: schema}); !fault.IsInvalid(err) {
			t.Errorf("schema %q gives %v", schema, err)
		}
	}
}
