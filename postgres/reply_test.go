package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// TestFollowerThatChangedMeanwhile: an entry in the middle of a run is in somebody
// else's hands by the time its lock is free. What is behind it goes back untouched.
func TestFollowerThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	outboxTable := newTable(nil, p.schema).prefix + "outbox"
	ids := publishing(t, p, alpha("a"), alpha("a"), alpha("a"), alpha("a"), alpha("b"), alpha("b"))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	tx, err := p.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "UPDATE "+outboxTable+" SET state = 'PROCESSING' WHERE id = $1", ids[2]); err != nil {
		t.Fatal(err)
	}
	var batch relay.Batch
	claimed := make(chan error)
	go func() {
		var err error
		req := request(10)
		req.RunLength = 10
		batch, err = s.Claim(ctx, req)
		claimed <- err
	}()
	for waits := 0; waits == 0; {
		if err := p.pool.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted AND $1 = ANY (pg_blocking_pids(pid))",
			int32(tx.Conn().PgConn().PID())).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-claimed; err != nil {
		t.Fatal(err)
	}
	want := []outbox.ID{ids[0], ids[1], ids[4], ids[5]}
	if got := idsOf(batch.Records); !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
	var state string
	var claims int
	if err := p.pool.QueryRow(ctx, "SELECT state, claims FROM "+outboxTable+" WHERE id = $1", ids[3]).Scan(&state, &claims); err != nil {
		t.Fatal(err)
	}
	if state != string(outbox.Pending) || claims != 0 {
		t.Errorf("what was behind is %s, claimed %d times; want it untouched", state, claims)
	}
}

func idsOf(records []outbox.Record) (ids []outbox.ID) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestClaimAhead: a claim that begins while the one before it still answers goes on
// where that one ends, and only a claim that is full lets another begin.
func TestClaimAhead(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	ids := publishing(t, p, alpha(""), alpha("a"), alpha(""), alpha("b"), alpha("a"))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	var batches []relay.Batch
	var claimTwo func() error
	claimTwo = func() error {
		req, began := request(2), false
		var inner error
		req.Ahead = func() {
			began = true
			inner = claimTwo()
		}
		batch, err := s.Claim(ctx, req)
		if began != (len(batch.Records) == 2) {
			t.Errorf("another claim began: %v, after %d entries", began, len(batch.Records))
		}
		batches = append(batches, batch)
		if err == nil {
			err = inner
		}
		return err
	}
	if err := claimTwo(); err != nil {
		t.Fatal(err)
	}
	// The innermost claim ends first. The second of aggregate a waits for the first.
	want := [][]outbox.ID{nil, ids[2:4], ids[:2]}
	for i, b := range batches {
		if i >= len(want) || !slices.Equal(idsOf(b.Records), want[i]) {
			t.Errorf("claim %d has %v, want %v", i, idsOf(b.Records), want)
		}
	}
}

func TestSortForDelivery(t *testing.T) {
	t.Parallel()
	rec := func(id outbox.ID, aggregate string, available, scheduled int64) outbox.Record {
		r := outbox.Record{ID: id, AggregateID: aggregate, AvailableAt: time.Unix(available, 0)}
		if scheduled > 0 {
			r.ScheduledAt = time.Unix(scheduled, 0)
		}
		return r
	}
	for name, c := range map[string]struct {
		records []outbox.Record
		runs    bool
		want    []outbox.ID
	}{
		"by due time":           {[]outbox.Record{rec(1, "", 30, 0), rec(2, "", 10, 0), rec(3, "", 20, 0)}, false, []outbox.ID{2, 3, 1}},
		"by id when due alike":  {[]outbox.Record{rec(3, "", 10, 0), rec(1, "", 10, 0), rec(2, "", 10, 0)}, false, []outbox.ID{1, 2, 3}},
		"scheduled counts":      {[]outbox.Record{rec(1, "", 10, 40), rec(2, "", 30, 20)}, false, []outbox.ID{2, 1}},
		"a run is in its order": {[]outbox.Record{rec(5, "a", 10, 0), rec(2, "a", 30, 0), rec(4, "b", 20, 0), rec(3, "", 40, 0)}, true, []outbox.ID{4, 2, 5, 3}},
	} {
		sortForDelivery(c.records, c.runs)
		if got := idsOf(c.records); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
