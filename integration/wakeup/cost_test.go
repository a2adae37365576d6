package wakeup

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/listener"
)

// counting is a store that counts claims.
type counting struct {
	*postgres.Store
	claims *atomic.Int64
}

func (c counting) Open(o relay.SessionOptions) relay.Session {
	s := c.Store.Open(o)
	return countingSession{s, s.(relay.Registrar), c.claims}
}

type countingSession struct {
	relay.Session
	relay.Registrar
	claims *atomic.Int64
}

func (c countingSession) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	c.claims.Add(1)
	return c.Session.Claim(ctx, req)
}

// Notifications take a lock that all commits share. Under load nobody sleeps, so there should be next to none; and
// relays should not claim once for each entry.
func TestUnderLoadNobodyIsNotified(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t, lab.Size(16))
	const relays, writers = 2, 4
	each := lab.Sized(150, 800)
	var claims, delivered, heard atomic.Int64
	for range relays {
		cfg := relay.Config{Waker: lab.Listen(t, db, listener.Config{}), PollingInterval: 10 * time.Minute}
		lab.Relay(t, counting{lab.Store(t, pool), &claims}, cfg, lab.Handle(func(context.Context, delivery.Envelope) error {
			delivered.Add(1)
			return nil
		}))
	}
	count(t, db, &heard)

	began := time.Now()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				lab.Publish(t, pool, lab.Entry(fmt.Sprint("aggregate-", w), n))
			}
		})
	}
	all.Wait()
	lab.Eventually(t, "every entry is delivered", func() bool { return delivered.Load() == int64(writers*each) })
	time.Sleep(100 * time.Millisecond)
	if n := heard.Load(); n > int64(writers*each/4) {
		t.Errorf("%d notifications for %d transactions", n, writers*each)
	}
	// A relay that found little pauses for some milliseconds, however many notifications come.
	paced := int64(relays * (time.Since(began) / (4 * time.Millisecond)))
	if n := claims.Load(); n > max(paced, int64(2*writers*each)) {
		t.Errorf("%d claims for %d entries in %v", n, writers*each, time.Since(began))
	}
	t.Logf("%d transactions, %d notifications, %d claims", writers*each, heard.Load(), claims.Load())

	// When they sleep, a single entry is told of.
	lab.Eventually(t, "all sleep", func() bool {
		return lab.Value[int](t, pool, `SELECT count(*) FROM outbox_relay WHERE asleep`) == relays
	})
	before := heard.Load()
	lab.Publish(t, pool, lab.Entry("last", 1))
	lab.Eventually(t, "a notification", func() bool { return heard.Load() > before })
}

// count counts the notifications of relays and publishers, over a connection of its own.
func count(t *testing.T, db *lab.Database, heard *atomic.Int64) {
	t.Helper()
	conn := db.Conn(t)
	if _, err := conn.Exec(t.Context(), "LISTEN "+listener.Channel); err != nil {
		t.Fatal(err)
	}
	lab.Background(t, "counter", func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, err := conn.WaitForNotification(ctx); err == nil {
				heard.Add(1)
			} else if ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
}

// A relay whose slots are all taken must not keep notifications in the server's queue: once that is full, commits fail.
func TestSaturatedRelayDrainsTheQueue(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	const name = "satchel saturated"
	l := lab.Listen(t, db.Named(name), listener.Config{})
	release := make(chan struct{})
	var running atomic.Int64
	cfg := relay.Config{Waker: l, BatchSize: 2}
	lab.Relay(t, lab.Store(t, pool), cfg, lab.Handle(func(context.Context, delivery.Envelope) error {
		running.Add(1)
		<-release
		return nil
	}))
	lab.Fill(t, pool, 10, 1)
	lab.Eventually(t, "all slots are taken", func() bool { return running.Load() == 2 })

	const session = `SELECT coalesce(xact_start::text, '') || coalesce(backend_xmin::text, '') || coalesce(wait_event, 'busy')
		FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'`
	for range lab.Sized(10, 100) {
		if _, err := pool.Exec(t.Context(), `SELECT pg_notify($1, g || repeat('x', 1000)) FROM generate_series(1, 1000) g`, listener.Channel); err != nil {
			t.Fatal(err)
		}
		lab.Eventually(t, "the listening session is idle, without a transaction or snapshot", func() bool {
			return lab.Value[string](t, pool, session, name) == "ClientRead"
		})
	}
	// The tail of the queue moves with the next notification once all have read.
	lab.Eventually(t, "the queue is empty", func() bool {
		lab.Value[any](t, pool, `SELECT pg_notify($1, '')::text`, listener.Channel)
		return lab.Value[float64](t, pool, `SELECT pg_notification_queue_usage()`) < 0.001
	})
	if running.Load() != 2 {
		t.Errorf("%d handlers ran", running.Load())
	}
	close(release)
}

// A server that is away for long must not be hammered, nor fill the log.
func TestIdleRelayBearsAnOutage(t *testing.T) {
	t.Parallel()
	server, db := lab.Private(t, nil)
	var dials atomic.Int64
	pool := db.Pool(t, func(cfg *pgxpool.Config) {
		cfg.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
			dials.Add(1)
			return nil
		}
	})
	var log lab.Log
	proxy := lab.NewProxy(t, db.Host())
	l := lab.Listen(t, db.Through(proxy, "outage"), listener.Config{Logger: log.Logger()})
	var claims atomic.Int64
	delivered := make(chan int, 10)
	lab.Relay(t, counting{lab.Store(t, pool), &claims}, relay.Config{Waker: l, Logger: log.Logger()},
		lab.Handle(func(_ context.Context, e delivery.Envelope) error {
			delivered <- lab.Number(e)
			return nil
		}))
	lab.Publish(t, pool, lab.Entry("a", 1))
	lab.Receive(t, "a delivery", delivered)

	if err := server.Crash(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	before := [4]int64{dials.Load(), claims.Load(), int64(proxy.Accepted()), int64(len(log.Lines()))}
	seconds := int64(lab.Sized(4, 10))
	time.Sleep(time.Duration(seconds) * time.Second)
	after := [4]int64{dials.Load(), claims.Load(), int64(proxy.Accepted()), int64(len(log.Lines()))}
	for i, what := range []string{"connections of the pool", "claims", "connections of the listener", "log lines"} {
		// The listener here waits 100 ms at most; everything else far longer.
		if n, limit := after[i]-before[i], 20*seconds; n > limit {
			t.Errorf("%d %s in %d s", n, what, seconds)
		}
	}
	if err := server.Restart(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	lab.Publish(t, pool, lab.Entry("a", 2))
	if n := lab.Receive(t, "a delivery after the outage", delivered); n != 2 {
		t.Errorf("delivered %d", n)
	}
}
