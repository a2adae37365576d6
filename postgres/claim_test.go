package postgres

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// TestLeaseLostBetweenStatements: the second statement of a claim adds to the lease of
// the first. When that was taken back in between, it claims nothing at all, and passes
// nothing: an entry in process without a lease would be nobody's.
func TestLeaseLostBetweenStatements(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	ids := publishing(t, p, alpha("a"), alpha(""))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"}).(*session)
	c := &claiming{session: s, req: request(10), reader: s.reader, batch: relay.Batch{Lease: 1 << 40}}
	if err := c.run(ctx, c.req.Scope.Types(), nil, true); err != nil {
		t.Fatal(err)
	}
	if len(c.batch.Records) > 0 || !c.batch.More {
		t.Errorf("claimed %v, more %v; want nothing, and more", c.batch.Records, c.batch.More)
	}
	expectStates(t, p, outbox.Pending, outbox.Pending)
	batch, err := s.Claim(ctx, request(10))
	if err != nil || len(batch.Records) != len(ids) {
		t.Errorf("the next claim: %v, %v", batch.Records, err)
	}
}

// TestClaimOfTwoStatements: one lease covers both, and the limit is that of the claim.
func TestClaimOfTwoStatements(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	beta := alpha("")
	beta.DestinationType = "BETA"
	publishing(t, p, alpha(""), alpha(""), beta, beta, beta)
	store := openStore(t, p)
	s := store.Open(relay.SessionOptions{Owner: "one"})
	req := request(4)
	req.First = "BETA"
	batch, err := s.Claim(ctx, req)
	if err != nil || len(batch.Records) != 4 {
		t.Fatalf("claimed %d entries: %v", len(batch.Records), err)
	}
	kinds := map[destination.Type]int{}
	outcomes := make([]relay.Outcome, 4)
	for i, r := range batch.Records {
		kinds[r.DestinationType]++
		outcomes[i] = relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Released}
	}
	if kinds["BETA"] != 3 || kinds["ALPHA"] != 1 {
		t.Errorf("claimed %v, want all of BETA first", kinds)
	}
	var held []int64
	err = p.pool.QueryRow(ctx, "SELECT entry_ids FROM "+newTable(nil, p.schema).prefix+"outbox_lease WHERE id = $1", int64(batch.Lease)).Scan(&held)
	if err != nil || len(held) != 4 {
		t.Errorf("the lease names %v: %v", held, err)
	}
	if recorded, err := s.Settle(ctx, outcomes, []relay.LeaseID{batch.Lease}); err != nil || slices.Contains(recorded, false) {
		t.Errorf("settle: %v, %v", recorded, err)
	}
}

// TestProbeOfNothing: a probe of a destination that the scope does not have finds nothing.
func TestProbeOfNothing(t *testing.T) {
	t.Parallel()
	p := place(t, pgtest.Mapped)
	publishing(t, p, alpha(""))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	req := request(1)
	req.Probe, req.Scope = true, claim.Snapshot{}
	batch, err := s.Claim(testContext(t), req)
	if err != nil || len(batch.Records) > 0 || batch.More {
		t.Errorf("claimed %v, %v", batch, err)
	}
}

// TestLockedHeadHoldsItsFollowers: a head that another claim has locked, and not yet
// marked, is skipped together with everything behind it.
func TestLockedHeadHoldsItsFollowers(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	ids := publishing(t, p, alpha("a"), alpha("a"), alpha("b"))
	other := p.Conn(t, "")
	if _, err := other.Exec(ctx, "BEGIN; SELECT FROM "+pgx.Identifier{p.schema, "outbox"}.Sanitize()+" WHERE id = 1 FOR NO KEY UPDATE"); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	req := request(10)
	req.RunLength = 10
	for i, want := range [][]outbox.ID{{ids[2]}, nil, nil} {
		batch, err := s.Claim(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		var got []outbox.ID
		for _, r := range batch.Records {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("claim %d while the head is locked: %v, want %v", i+1, got, want)
		}
	}
	if _, err := other.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	fresh := openStore(t, p).Open(relay.SessionOptions{Owner: "two"}) // one that has passed nothing
	batch, err := fresh.Claim(ctx, req)
	if err != nil || len(batch.Records) != 2 || batch.Records[0].ID != ids[0] || batch.Records[1].ID != ids[1] {
		t.Errorf("claimed after the lock: %v, %v", batch.Records, err)
	}
}
