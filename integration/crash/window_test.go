package crash

import (
	"cmp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/maintenance"
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
