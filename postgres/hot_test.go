package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestClaimIsHot: claims with runs, releases of what is behind, and renewals write no
// index, whatever the index is.
func TestClaimIsHot(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, "", func(cfg *pgxpool.Config) { cfg.MaxConns = 1 }) // one session has all the counters
	const aggregates, each = 100, 5                                   // on many pages, each of which has room for one more version of its rows
	insertMany(t, p, aggregates, each)
	before := updates(ctx, t, p, "outbox")

	s := openStore(t, p).Open(relay.SessionOptions{Owner: "hot"})
	req := request(aggregates * each)
	req.RunLength = each
	batch, err := s.Claim(ctx, req)
	if err != nil || len(batch.Records) != aggregates*each {
		t.Fatalf("claimed %d entries, want %d: %v", len(batch.Records), aggregates*each, err)
	}
	claimed := make([]relay.Outcome, len(batch.Records))
	for i, r := range batch.Records {
		claimed[i] = relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.ReleasedBehind, AggregateID: r.AggregateID}
	}
	expectHot(t, "claims", updates(ctx, t, p, "outbox").minus(before), len(claimed))

	// A third version needs the room of the first, which the server cannot always have
	// back at once; of the rows of one page only, there is room for all versions.
	few := claimed[:min(8, len(claimed))]
	before = updates(ctx, t, p, "outbox")
	if _, err := s.Settle(ctx, few, nil); err != nil {
		t.Fatal(err)
	}
	expectHot(t, "releases", updates(ctx, t, p, "outbox").minus(before), len(few))

	before = updates(ctx, t, p, "outbox_lease")
	if lost, err := s.Renew(ctx, []relay.LeaseID{batch.Lease}, time.Minute); err != nil || len(lost) > 0 {
		t.Fatalf("renew: lost %v, %v", lost, err)
	}
	expectHot(t, "renewals", updates(ctx, t, p, "outbox_lease").minus(before), 1)
}

func expectHot(t *testing.T, what string, got counters, want int) {
	t.Helper()
	if got.all != int64(want) || got.hot != got.all {
		t.Errorf("%s: %d updates of which %d are HOT, want %d", what, got.all, got.hot, want)
	}
}

// counters are numbers of updates of a table.
type counters struct{ all, hot int64 }

func (c counters) minus(o counters) counters { return counters{c.all - o.all, c.hot - o.hot} }

// updates reads the counters after the session has published them.
func updates(ctx context.Context, t *testing.T, p placed, table string) (c counters) {
	t.Helper()
	var version int
	if err := p.pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version >= 150000 {
		if _, err := p.pool.Exec(ctx, "SELECT pg_stat_force_next_flush()"); err != nil {
			t.Fatal(err)
		}
	} else { // a session publishes at most twice a second, and when it ends
		p.pool.Reset()
		time.Sleep(2 * time.Second)
	}
	err := p.pool.QueryRow(ctx, "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = $1::text::regclass", table).Scan(&c.all, &c.hot)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openStore returns a store on placed tables.
func openStore(t testing.TB, p placed) *Store {
	t.Helper()
	s, err := NewStore(p.pool, Config{Schema: p.schema})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request asks for everything of the types that these tests use.
func request(limit int) relay.ClaimRequest {
	scope, err := claim.Resolve(claim.Capabilities{"ALPHA": claim.All(), "BETA": claim.All()})
	if err != nil {
		panic(err) // All cannot fail
	}
	return relay.ClaimRequest{Limit: limit, RunLength: 1, Lease: time.Minute, Scope: scope}
}

// insertMany publishes entries of type ALPHA: some aggregates with some entries each.
func insertMany(t testing.TB, p placed, aggregates, each int) {
	t.Helper()
	_, err := p.pool.Exec(t.Context(), `INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload, available_at)
		SELECT gen_random_uuid(), 'a' || (i % $1), 'e', 'orders', 'ALPHA', '{"n":1}', clock_timestamp() FROM generate_series(1, $2::int) AS i`, aggregates, aggregates*each)
	if err != nil {
		t.Fatal(err)
	}
}

// publishing writes entries in one transaction of pgx, or fails the test.
func publishing(t testing.TB, p placed, list ...outbox.Entry) []outbox.ID {
	t.Helper()
	ctx := testContext(t)
	var ids []outbox.ID
	bind := pgxStatements(t, p.schema)
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) (err error) {
		ids, err = bind(tx).PublishAll(ctx, list...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestDeliveryWritesARowTwice: when it is claimed and when it is settled, and not once more.
func TestDeliveryWritesARowTwice(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, "", func(cfg *pgxpool.Config) { cfg.MaxConns = 1 })
	const aggregates, each = 10, 5
	insertMany(t, p, aggregates, each)
	before := updates(ctx, t, p, "outbox")
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	settled := 0
	for settled < aggregates*each {
		batch, err := s.Claim(ctx, request(7)) // heads only, so that successors are looked up
		if err != nil {
			t.Fatal(err)
		}
		outcomes := make([]relay.Outcome, len(batch.Records))
		for i, r := range batch.Records {
			outcomes[i] = relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID}
		}
		if _, err := s.Settle(ctx, outcomes, []relay.LeaseID{batch.Lease}); err != nil {
			t.Fatal(err)
		}
		settled += len(outcomes)
	}
	if got := updates(ctx, t, p, "outbox").minus(before); got.all != 2*aggregates*each {
		t.Errorf("%d updates for %d deliveries", got.all, aggregates*each)
	}
}
