package upkeep

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

// Two nodes clean up every second what is older than a second, while entries come and go. The
// shortest retention is a minute, so what is delivered is dated back by the rest of one.
func TestCleanupBesideLoad(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t, lab.Size(12))
	db.Exec(t, `CREATE FUNCTION date_back() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN NEW.published_at := NEW.published_at - interval '59 seconds'; RETURN NEW; END $$;
		CREATE TRIGGER date_back BEFORE UPDATE ON outbox FOR EACH ROW
		WHEN (OLD.published_at IS NULL AND NEW.published_at IS NOT NULL) EXECUTE FUNCTION date_back()`)
	var log lab.Log
	for range 2 {
		schedule(t, pool, scheduler.Config{
			Recovery: everySecond, Cleanup: everySecond, Logger: log.Logger(),
			Maintenance: maintenance.Config{PublishedRetention: maintenance.MinRetention, BatchSize: 50},
		})
	}
	var delivered [8]atomic.Int64
	total := atomic.Int64{}
	for range 2 {
		lab.Relay(t, lab.Store(t, pool), lab.Fast(), lab.Handle(func(_ context.Context, e delivery.Envelope) error {
			var a int
			if _, err := fmt.Sscanf(e.AggregateID, "aggregate-%d", &a); err != nil {
				return delivery.Permanent(err)
			}
			if !delivered[a].CompareAndSwap(int64(lab.Number(e)-1), int64(lab.Number(e))) {
				t.Errorf("entry %d of %s is out of order, or came twice", lab.Number(e), e.AggregateID)
			}
			total.Add(1)
			return nil
		}))
	}
	rows := lab.Sized(100, 1000)
	lab.Fill(t, pool, len(delivered), rows)
	lab.Eventually(t, "all is delivered", func() bool { return int(total.Load()) == rows*len(delivered) })
	lab.Eventually(t, "all is cleaned up", func() bool { return lab.Value[int](t, pool, `SELECT count(*) FROM outbox`) == 0 })
	if n := log.Count("maintenance failed"); n > 0 {
		t.Errorf("%d failures: %v", n, log.Lines())
	}
}

// Slots that are all taken must not keep the node from its duties.
func TestBlockedHandlersDoNotDelayMaintenance(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	release := make(chan struct{})
	defer close(release)
	var running atomic.Int64
	cfg := lab.Fast()
	cfg.BatchSize = 2
	lab.Relay(t, lab.Store(t, pool), cfg, lab.Handle(func(context.Context, delivery.Envelope) error {
		running.Add(1)
		<-release
		return nil
	}))
	lab.Fill(t, pool, 5, 1)
	lab.Eventually(t, "all slots are taken", func() bool { return running.Load() == 2 })
	db.Exec(t, `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload, metadata, max_attempts, state, published_at)
		VALUES (gen_random_uuid(), 'e', 'old', 'OTHER', '{}', '{}', 1, 'PUBLISHED', now() - interval '8 days')`)
	foreign(t, db)
	schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: everySecond})
	lab.Eventually(t, "the other node's entry is recovered", func() bool {
		return lab.Value[string](t, pool, `SELECT state FROM outbox WHERE destination = 'elsewhere'`) == "PENDING"
	})
	lab.Eventually(t, "the old entry is deleted", func() bool {
		return lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE destination = 'old'`) == 0
	})
}

// foreign leaves an entry of another type claimed by a node that is gone.
func foreign(t *testing.T, db *lab.Database) {
	t.Helper()
	pool := db.Pool(t)
	e := lab.Entry("", 1)
	e.DestinationType, e.Destination = "FOREIGN", "elsewhere"
	lab.Publish(t, pool, e)
	scope, err := claim.Resolve(claim.Capabilities{"FOREIGN": claim.All()})
	if err != nil {
		t.Fatal(err)
	}
	gone := lab.Store(t, pool).Open(relay.SessionOptions{Owner: "gone"})
	b, err := gone.Claim(t.Context(), relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: time.Millisecond, Scope: scope})
	if err != nil || len(b.Records) != 1 {
		t.Fatalf("%d claimed: %v", len(b.Records), err)
	}
}

// A node that knows nothing of a type returns its entries as they were; who knows it delivers them.
func TestNodeRecoversWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	foreign(t, db)
	lab.Relay(t, lab.Store(t, pool), lab.Fast(), lab.Handle(func(context.Context, delivery.Envelope) error { return nil }))
	schedule(t, pool, scheduler.Config{Recovery: everySecond, Cleanup: never})
	const whole = `SELECT state || ' attempt=' || attempt || ' error=' || COALESCE(last_error, 'none') || ' lease=' || COALESCE(lease_id::text, 'none') FROM outbox`
	lab.Eventually(t, "the entry is returned", func() bool {
		return lab.Value[string](t, pool, whole) == "PENDING attempt=0 error=none lease=none"
	})
	time.Sleep(1500 * time.Millisecond) // one more recovery, many claims
	if got := lab.Value[string](t, pool, whole); got != "PENDING attempt=0 error=none lease=none" {
		t.Errorf("later: %s", got)
	}
	delivered := make(chan int, 1)
	lab.Relay(t, lab.Store(t, pool), lab.Fast(), lab.Handler{Serves: "FOREIGN", Do: func(_ context.Context, e delivery.Envelope) error {
		delivered <- e.Attempt
		return nil
	}})
	if attempt := lab.Receive(t, "the delivery", delivered); attempt != 1 {
		t.Errorf("attempt %d", attempt)
	}
}
