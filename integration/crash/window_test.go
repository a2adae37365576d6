package crash

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// scene is what every test here begins with.
type scene struct {
	*testing.T
	db      *lab.Database
	pool    *pgxpool.Pool
	journal *lab.Journal
	nodes   int
}

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	db := lab.New(t)
	return &scene{T: t, db: db, pool: db.Pool(t), journal: lab.NewJournal(t)}
}

// start starts a child with the scene's database and journal, under a name of its own.
func (s *scene) start(role string, o orders) (c *lab.Child, node string) {
	s.Helper()
	s.nodes++
	o.Database, o.Journal, o.Node = *s.db, s.journal.Path, role+"-"+string(rune('a'+s.nodes))
	o.Batch, o.MaxClaims = cmp.Or(o.Batch, 10), cmp.Or(o.MaxClaims, maintenance.MaxMaxClaims)
	return lab.Start(s, role, o), o.Node
}

// kill kills a node and notes it in the journal.
func (s *scene) kill(c *lab.Child, node string) {
	s.Helper()
	c.Kill()
	s.journal.Write(lab.Event{Kind: lab.Killed, Node: node})
}

// drained waits until every entry is settled.
func (s *scene) drained() {
	s.Helper()
	lab.Eventually(s, "every entry is settled", func() bool {
		return lab.Value[int](s, s.pool, `SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_lettered_at IS NULL`) == 0
	})
}

func TestKilledBeforeTheCommit(t *testing.T) {
	s := newScene(t)
	c, node := s.start("publisher", orders{Aggregate: "a", Hang: true})
	c.Said("uncommitted")
	s.kill(c, node)
	lab.Eventually(t, "the server notices", func() bool {
		return lab.Value[int](t, s.pool, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`) == 0
	})
	if rows := lab.Value[int](t, s.pool, `SELECT (SELECT count(*) FROM business) + (SELECT count(*) FROM outbox)`); rows != 0 {
		t.Errorf("%d rows of a transaction that was never committed", rows)
	}
}

func TestPublisherKilledAtRandom(t *testing.T) {
	s := newScene(t)
	relay, _ := s.start("relay", orders{})
	for i := range lab.Sized(4, 20) {
		c, node := s.start("publisher", orders{Aggregate: string(rune('A' + i))})
		c.Said("committed 20") // and then wherever it is
		s.kill(c, node)
	}
	s.drained()
	if err := relay.Terminate(); err != nil {
		t.Error(err)
	}
	s.journal.Check(t, s.pool, 0)
	if n := s.journal.Count(t, lab.Delivered); n < 80 {
		t.Errorf("%d deliveries, want what was committed", n)
	}
}

func TestKilledBetweenCommitAndClaim(t *testing.T) {
	s := newScene(t)
	c, node := s.start("publisher", orders{Aggregate: "a", Silent: true})
	c.Said("committed")
	s.kill(c, node)
	s.start("relay", orders{})
	s.drained()
	s.journal.Check(t, s.pool, 0)
}

func TestKilledBetweenClaimAndDelivery(t *testing.T) {
	s := newScene(t)
	lab.Fill(t, s.pool, 3, 5)
	c, node := s.start("relay", orders{At: "claimed"})
	c.Said("claimed")
	s.kill(c, node)
	s.start("relay", orders{})
	s.drained()
	s.journal.Check(t, s.pool, 0) // the first relay delivered nothing
}

func TestKilledBetweenDeliveryAndSettlement(t *testing.T) {
	s := newScene(t)
	lab.Fill(t, s.pool, 3, 5)
	c, node := s.start("relay", orders{At: "delivered"})
	c.Said("delivered")
	lab.Eventually(t, "a delivery is in the journal", func() bool { return s.journal.Count(t, lab.Delivered) > 0 })
	s.kill(c, node)
	before := s.journal.Count(t, lab.Delivered)
	s.start("relay", orders{})
	s.drained()
	s.journal.Check(t, s.pool, 20) // a batch, and one more that was claimed ahead
	if all := s.journal.Count(t, lab.Delivered); all != 15+before {
		t.Errorf("%d deliveries of 15 entries after %d that were not settled, want each of these again", all, before)
	}
}

func TestTerminatedInOrder(t *testing.T) {
	s := newScene(t)
	lab.Fill(t, s.pool, 20, 5)
	c, _ := s.start("relay", orders{Work: 50 * time.Millisecond, Batch: 20})
	lab.Eventually(t, "some deliveries are made", func() bool { return s.journal.Count(t, lab.Delivered) > 10 })
	if err := c.Terminate(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	if held := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE state = 'PROCESSING' OR lease_id IS NOT NULL`); held != 0 {
		t.Errorf("%d entries still held after an orderly stop", held)
	}
	if charged := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE attempt > 0 OR claims > 0`); charged != 0 {
		t.Errorf("%d entries charged for a stop", charged)
	}
	s.start("relay", orders{})
	s.drained()
	s.journal.Check(t, s.pool, 0)
}

// A relay dies during the last attempt at an entry, or somebody raised the count beyond it: the entry is tried once more and
// then given up, and what waits behind it goes.
func TestLostLastAttemptEndsAsDeadLetter(t *testing.T) {
	s := newScene(t)
	lab.Publish(t, s.pool, lab.Entry("last", 1), lab.Entry("last", 2), lab.Entry("beyond", 1), lab.Entry("beyond", 2))
	s.db.Exec(t, `UPDATE outbox SET max_attempts = 3, attempt = CASE aggregate_id WHEN 'last' THEN 2 ELSE 3 END WHERE payload->>'n' = '1'`)
	var mu sync.Mutex
	heads := map[string]int{}
	handler := lab.Handle(func(_ context.Context, e delivery.Envelope) error {
		if lab.Number(e) > 1 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		heads[e.AggregateID]++
		return errors.New("no")
	})
	scope, err := claim.Resolve(claim.Capabilities{lab.Kind: handler.Scope()})
	if err != nil {
		t.Fatal(err)
	}
	gone := lab.Store(t, s.pool).Open(relay.SessionOptions{Owner: "gone"})
	b, err := gone.Claim(lab.Context(t), relay.ClaimRequest{Limit: 10, RunLength: 1, Lease: time.Millisecond, Scope: scope})
	if err != nil || len(b.Records) != 2 {
		t.Fatalf("%d claimed: %v", len(b.Records), err)
	}
	lab.Recover(t, lab.Store(t, s.pool), maintenance.Config{})
	stop := lab.Relay(t, lab.Store(t, s.pool), lab.Fast(), handler)
	s.drained()
	stop()
	if got := lab.States(t, s.pool); got != "DEAD_LETTER=2 PUBLISHED=2" {
		t.Errorf("in the end: %s", got)
	}
	if heads["last"] != 1 || heads["beyond"] != 1 {
		t.Errorf("deliveries after the crash: %v, want one each", heads)
	}
}
