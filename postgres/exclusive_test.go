package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// TestExclusive: a job that runs is not begun a second time, nor one that began less
// than a period ago; every run leaves its trace, also one that failed.
func TestExclusive(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	store := openStore(t, place(t, pgtest.Mapped))
	if _, ok, err := store.LastRun(ctx, "cleanup"); ok || err != nil {
		t.Errorf("last run of a job that never ran: %v, %v", ok, err)
	}
	never := func(context.Context) (int64, error) {
		t.Error("the job ran a second time")
		return 0, nil
	}
	ran, err := store.Exclusive(ctx, "cleanup", "one", time.Hour, func(ctx context.Context) (int64, error) {
		if ran, err := store.Exclusive(ctx, "cleanup", "two", 0, never); ran || err != nil {
			t.Errorf("while it runs: %v, %v", ran, err)
		}
		ran, err := store.Exclusive(ctx, "recovery", "two", 0, func(context.Context) (int64, error) { return 0, nil })
		if !ran || err != nil {
			t.Errorf("another job meanwhile: %v, %v", ran, err)
		}
		return 7, nil
	})
	if !ran || err != nil {
		t.Fatalf("the first run: %v, %v", ran, err)
	}
	if ran, err := store.Exclusive(ctx, "cleanup", "two", time.Hour, never); ran || err != nil {
		t.Errorf("within the period: %v, %v", ran, err)
	}
	failure := errors.New("the job failed")
	ran, err = store.Exclusive(ctx, "cleanup", "two", 0, func(context.Context) (int64, error) { return 1, failure })
	if !ran || !errors.Is(err, failure) {
		t.Errorf("a run that fails: %v, %v", ran, err)
	}
	if age, ok, err := store.LastRun(ctx, "cleanup"); !ok || err != nil || age < 0 || age > time.Hour {
		t.Errorf("last run: %v, %v, %v", age, ok, err)
	}
}

func TestMaintainArchive(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	d := pgtest.Disposable(t) // the partitions that it makes stay
	store := openStore(t, placed{d, d.Pool(t, pgtest.Mapped), pgtest.Mapped})
	for range 2 {
		if dropped, err := store.MaintainArchive(ctx, 2, 0); dropped != 0 || err != nil {
			t.Errorf("dropped %d partitions: %v", dropped, err)
		}
	}
	var partitions int
	err := d.Conn(t, "").QueryRow(ctx, "SELECT count(*) FROM pg_class WHERE relname LIKE 'outbox_archive_y%' AND relkind = 'r'").Scan(&partitions)
	if err != nil || partitions != 3 {
		t.Errorf("%d partitions, want those of today and two days: %v", partitions, err)
	}
	_, err = store.MaintainArchive(ctx, -1, 0)
	expectCode(t, "days below zero", err, "22023", false)
}

// TestBatchesOfACleanupStand: while the job runs, others see each batch gone and wait
// for nothing; a job that ends half-way leaves what it has deleted deleted.
func TestBatchesOfACleanupStand(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	quoted := pgx.Identifier{p.schema, "outbox"}.Sanitize()
	p.Exec(t, `INSERT INTO `+quoted+` (carrier_id, event_type, destination, destination_type, payload, state, published_at)
		SELECT gen_random_uuid(), 'e', 'd', 'ALPHA', '1', 'PUBLISHED', now() - interval '30 days' FROM generate_series(1, 50)`)
	store, witness := openStore(t, p), p.Conn(t, "")
	expect := func(what string, want int) {
		t.Helper()
		var n int
		if err := witness.QueryRow(ctx, "SELECT count(*) FROM "+quoted+" WHERE published_at IS NOT NULL").Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d rows, want %d: %v", what, n, want, err)
		}
	}
	failure := errors.New("killed half-way")
	ran, err := store.Exclusive(ctx, "cleanup", "one", 0, func(ctx context.Context) (int64, error) {
		for batch := 1; batch <= 2; batch++ {
			if n, err := store.DeletePublished(ctx, 24*time.Hour, 10); n != 10 || err != nil {
				t.Errorf("batch %d: %d, %v", batch, n, err)
			}
			expect("after a batch", 50-10*batch)
		}
		s := store.Open(relay.SessionOptions{Owner: "two"})
		publishing(t, p, alpha("a"))
		b, err := s.Claim(ctx, request(1))
		if err != nil || len(b.Records) != 1 {
			t.Fatalf("a claim meanwhile: %v, %v", b.Records, err)
		}
		if err := newTable(p.pool, p.schema).AgeLeases(ctx, time.Hour, b.Lease); err != nil {
			t.Fatal(err)
		}
		if r, err := store.Reclaim(ctx, 10, 10); err != nil || r.Returned != 1 {
			t.Errorf("a recovery meanwhile: %+v, %v", r, err)
		}
		return 20, failure
	})
	if !ran || !errors.Is(err, failure) {
		t.Errorf("ran %v, %v", ran, err)
	}
	expect("afterwards", 30)
}
