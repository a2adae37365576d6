package upkeep

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

func TestTwoNodesDoEachJobOnce(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	db.Exec(t, audit)
	pool := db.Pool(t)
	began := time.Now()
	for range 2 {
		schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: everySecond})
	}
	for _, job := range []string{scheduler.RecoveryJob, scheduler.CleanupJob} {
		lab.Eventually(t, job+" runs", func() bool { return runs(t, pool, job) >= 4 })
		if n, ticks := runs(t, pool, job), int(time.Since(began)/time.Second)+1; n > ticks {
			t.Errorf("%s: %d runs in %d seconds", job, n, ticks)
		}
		// A node that is late must not do again what another has just done.
		closest := lab.Value[float64](t, pool, `SELECT min(extract(epoch FROM gap))::float8
			FROM (SELECT at - lag(at) OVER (ORDER BY at) AS gap FROM run WHERE job = $1) g`, job)
		if closest < 0.5 {
			t.Errorf("%s: two runs within %v s", job, closest)
		}
	}
}

func TestKilledNodeKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	db.Exec(t, audit)
	pool := db.Pool(t)
	c := lab.Start(t, "stalled", db)
	c.Said("begun")
	schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: never})
	before := runs(t, pool, scheduler.RecoveryJob)
	time.Sleep(2500 * time.Millisecond)
	if n := runs(t, pool, scheduler.RecoveryJob); n != before {
		t.Errorf("%d runs beside one that was under way", n-before)
	}
	c.Kill()
	lab.Eventually(t, "the other node takes over", func() bool { return runs(t, pool, scheduler.RecoveryJob) > before })
}

// The network between a node and the server swallows everything while the node works: to the server it looks as if the
// node were only slow. The others must not wait for as long as an operating system does, nor the node itself.
func TestCutOffNodeKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	db.Exec(t, audit)
	pool := db.Pool(t)
	proxy := lab.NewProxy(t, db.Host())
	far := lab.Store(t, db.Through(proxy, "cut off").Pool(t))
	begun, ended := make(chan struct{}), make(chan error, 1)
	lab.Background(t, "node that is cut off", func(ctx context.Context) error {
		_, err := far.Exclusive(ctx, scheduler.RecoveryJob, "far", time.Millisecond, func(ctx context.Context) (int64, error) {
			close(begun)
			<-ctx.Done() // a statement that gets no answer
			return 0, ctx.Err()
		})
		ended <- err
		return nil
	})
	lab.Receive(t, "the job begins", begun)
	schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: never})
	before := runs(t, pool, scheduler.RecoveryJob)
	time.Sleep(6 * time.Second) // the node has shown that it is alive
	if n := runs(t, pool, scheduler.RecoveryJob); n != before {
		t.Errorf("%d runs beside one that was under way", n-before)
	}
	proxy.Freeze(true)
	lab.Eventually(t, "the other node takes over", func() bool { return runs(t, pool, scheduler.RecoveryJob) > before })
	var unreachable *fault.Persistence
	if err := lab.Receive(t, "the node notices", ended); !errors.As(err, &unreachable) {
		t.Errorf("the node that was cut off got %v", err)
	}
	proxy.Close() // or the pool waits for it
}

// A service that was away for longer than the retention must not forget what is about to be redelivered to it.
func TestNothingRunsEagerlyAtStart(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	db.Exec(t, audit)
	pool := db.Pool(t)
	db.Exec(t, `INSERT INTO inbox (message_id, source, processed_at) VALUES ('m', 's', now() - interval '31 days')`)
	schedule(t, pool, scheduler.Config{Cleanup: never, Recovery: never})
	time.Sleep(1500 * time.Millisecond)
	if n := lab.Value[int](t, pool, `SELECT count(*) FROM run`); n != 0 {
		t.Errorf("%d runs", n)
	}
	if n := lab.Value[int](t, pool, `SELECT count(*) FROM inbox`); n != 1 {
		t.Error("the marker is gone")
	}
}

// What tells an operator that nobody maintains the tables.
func TestLastRunAges(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	store := lab.Store(t, pool)
	if _, ok, err := store.LastRun(t.Context(), scheduler.RecoveryJob); ok || err != nil {
		t.Fatalf("before any run: %v, %v", ok, err)
	}
	s, err := scheduler.New(store, scheduler.Config{Recovery: everySecond, Cleanup: never})
	if err != nil {
		t.Fatal(err)
	}
	stop := lab.Background(t, "scheduler", s.Run)
	lab.Eventually(t, "a run", func() bool {
		_, ok, err := store.LastRun(t.Context(), scheduler.RecoveryJob)
		return ok && err == nil
	})
	if _, ok, err := store.LastRun(t.Context(), scheduler.CleanupJob); ok || err != nil {
		t.Errorf("the other job: %v, %v", ok, err)
	}
	if err := s.Run(t.Context()); !errors.Is(err, scheduler.ErrRunning) {
		t.Errorf("a second Run: %v", err)
	}
	stop()
	young, _, err := store.LastRun(t.Context(), scheduler.RecoveryJob)
	time.Sleep(50 * time.Millisecond)
	old, _, err2 := store.LastRun(t.Context(), scheduler.RecoveryJob)
	if err != nil || err2 != nil || young > lab.Patience || old < young+50*time.Millisecond {
		t.Errorf("age %v and later %v: %v, %v", young, old, err, err2)
	}
}

func TestArchivePartitionsComeAndGo(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	db.Exec(t, `CREATE TABLE outbox_archive_y2020m01d01 PARTITION OF outbox_archive
		FOR VALUES FROM ('2020-01-01 00:00:00+00') TO ('2020-01-02 00:00:00+00');
		INSERT INTO outbox_archive (id, carrier_id, event_type, destination, destination_type, created_at, published_at)
		VALUES (1, gen_random_uuid(), 'e', 'd', 'TEST', now(), '2020-01-01 12:00:00+00')`)
	schedule(t, pool, scheduler.Config{
		Recovery: never, Cleanup: everySecond, ArchiveDaysAhead: 2,
		Maintenance: maintenance.Config{PublishedRetention: 3 * maintenance.Day},
	})
	const days = `SELECT count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE inhparent = 'outbox_archive'::regclass AND c.relname::text LIKE 'outbox\_archive\_y%'`
	lab.Eventually(t, "today and two days more, and no others", func() bool {
		return lab.Value[int](t, pool, days) == 3 && lab.Value[int](t, pool, `SELECT count(*) FROM outbox_archive`) == 0
	})
	if n := lab.Value[int](t, pool, days+` AND c.relname::text = 'outbox_archive_y2020m01d01'`); n != 0 {
		t.Error("the old partition is still there")
	}
	cfg := lab.Fast()
	cfg.OnPublished = relay.Archive
	lab.Relay(t, lab.Store(t, pool), cfg, lab.Handle(func(context.Context, delivery.Envelope) error { return nil }))
	lab.Publish(t, pool, lab.Entry("a", 1))
	lab.Eventually(t, "the entry is archived, in a partition of its day", func() bool {
		return lab.Value[int](t, pool, `SELECT count(*) FROM outbox_archive`) == 1 &&
			lab.Value[int](t, pool, `SELECT count(*) FROM outbox_archive_default`) == 0 &&
			lab.Value[int](t, pool, `SELECT count(*) FROM outbox`) == 0
	})
}
