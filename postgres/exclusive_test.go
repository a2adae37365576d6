package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/fault"
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
	for _, days := range [][2]int{{MaxArchiveDaysAhead, MaxArchiveKeepDays}, {0, 1}} {
		if _, err := store.MaintainArchive(ctx, days[0], days[1]); err != nil {
			t.Errorf("%v days: %v", days, err)
		}
	}
}

// TestMaintenanceIsRefused: what is out of bounds never reaches the server, and no job runs.
func TestMaintenanceIsRefused(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, "")
	store := openStore(t, p)
	p.pool.Close() // whoever asks the server gets another error
	never := func(context.Context) (int64, error) {
		t.Error("the job ran")
		return 0, nil
	}
	exclusive := func(job, owner string, period time.Duration, work func(context.Context) (int64, error)) func() error {
		return func() error {
			ran, err := store.Exclusive(ctx, job, owner, period, work)
			if ran {
				t.Errorf("%q of %q ran", job, owner)
			}
			return err
		}
	}
	archive := func(ahead, keep int) func() error {
		return func() error { _, err := store.MaintainArchive(ctx, ahead, keep); return err }
	}
	job, owner := strings.Repeat("ö", MaxJobLength), strings.Repeat("ö", MaxOwnerLength)
	for name, c := range map[string]struct {
		call  func() error
		field string
	}{
		"no job":            {exclusive("", owner, 0, never), "job"},
		"blank job":         {exclusive(" \t", owner, 0, never), "job"},
		"long job":          {exclusive(job+"x", owner, 0, never), "job"},
		"job with a NUL":    {exclusive("a\x00", owner, 0, never), "job"},
		"no owner":          {exclusive(job, "", 0, never), "job owner"},
		"long owner":        {exclusive(job, owner+"x", 0, never), "job owner"},
		"malformed owner":   {exclusive(job, "\xff", 0, never), "job owner"},
		"negative period":   {exclusive(job, owner, -1, never), "job period"},
		"no work":           {exclusive(job, owner, 0, nil), "job work"},
		"days below zero":   {archive(-1, 0), "archive days ahead"},
		"too far ahead":     {archive(MaxArchiveDaysAhead+1, 0), "archive days ahead"},
		"kept below zero":   {archive(0, -1), "archive days to keep"},
		"kept for too long": {archive(0, MaxArchiveKeepDays+1), "archive days to keep"},
	} {
		var refused *fault.Invalid
		if err := c.call(); !errors.As(err, &refused) || refused.Field != c.field {
			t.Errorf("%s: %v, want that %q is refused", name, err, c.field)
		}
	}
	if ran, err := openStore(t, place(t, "")).Exclusive(ctx, job, owner, 0, nothingDone); !ran || err != nil {
		t.Errorf("the longest names: %v, %v", ran, err)
	}
}

func nothingDone(context.Context) (int64, error) { return 0, nil }

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
