package crash

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

func TestKilledWhileManyAreInFlight(t *testing.T) {
	s := newScene(t)
	aggregates, length := 40, lab.Sized(15, 60)
	lab.Fill(t, s.pool, aggregates, length)
	const batch = 20
	o := orders{Batch: batch, Work: 20 * time.Millisecond}
	steady, steadyNode := s.start("relay", o)
	for range lab.Sized(4, 15) {
		c, node := s.start("relay", o)
		c.Said("running")
		time.Sleep(rand.N(500 * time.Millisecond))
		s.kill(c, node)
	}
	s.kill(steady, steadyNode)
	s.start("relay", orders{Batch: batch})
	s.drained()
	s.journal.Check(t, s.pool, 2*batch) // a batch that is delivered, another that waits
	if got, want := lab.States(t, s.pool), fmt.Sprint("PUBLISHED=", aggregates*length); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestKilledWhileItTakesLeasesBack(t *testing.T) {
	s := newScene(t)
	const leases, each = 120, 5
	lab.Fill(t, s.pool, 30, leases*each/30)
	// A relay that claims and is never heard of again.
	handler := lab.Handle(nil)
	scope, err := claim.Resolve(claim.Capabilities{lab.Kind: handler.Scope()})
	if err != nil {
		t.Fatal(err)
	}
	gone := lab.Store(t, s.pool).Open(relay.SessionOptions{Owner: "gone"})
	held := 0
	for range 2 * leases { // a claim may return before it has looked at everything
		batch, err := gone.Claim(lab.Context(t), relay.ClaimRequest{Limit: each, RunLength: each, Lease: time.Minute, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		held += len(batch.Records)
	}
	s.db.Exec(t, `UPDATE outbox_lease SET expires_at = now() - interval '1 second'`)

	recovered := func() int { return lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE state = 'PENDING'`) }
	for killed := 0; killed < 5; killed++ {
		c, node := s.start("recovery", orders{})
		c.Said("running")
		time.Sleep(rand.N(40 * time.Millisecond))
		s.kill(c, node)
	}
	s.start("recovery", orders{})
	lab.Eventually(t, "every lease is taken back", func() bool {
		return recovered() == leases*each && lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox_lease`) == 0
	})
	if held == 0 {
		t.Error("nothing was held")
	}
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE attempt <> 0 OR lease_id IS NOT NULL`); n != 0 {
		t.Errorf("%d entries charged or still held", n)
	}
	s.start("relay", orders{Batch: 50})
	s.drained()
	s.journal.Check(t, s.pool, 0)
}

func TestPoisonEndsOnlyAFewProcesses(t *testing.T) {
	s := newScene(t)
	const poison, maxClaims = 999, 4
	lab.Publish(t, s.pool, lab.Entry("poisoned", poison))
	lab.Fill(t, s.pool, 4, 5)
	o := orders{Poison: poison, MaxClaims: maxClaims}
	deaths := 0
	dead := func() bool {
		return lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE state = 'DEAD_LETTER'`) == 1
	}
	for !dead() {
		if deaths > maxClaims {
			t.Fatalf("%d processes died of one entry: %s", deaths, lab.States(t, s.pool))
		}
		c, node := s.start("relay", o)
		lab.Eventually(t, "the process dies, or the entry does", func() bool {
			select {
			case <-c.Ended():
				return true
			default:
				return dead()
			}
		})
		if !dead() {
			if code := c.ExitCode(); code != 7 {
				t.Fatalf("a relay ended with %d", code)
			}
			deaths++
		}
		s.kill(c, node)
	}
	if deaths == 0 {
		t.Error("the poison killed nobody")
	}
	s.start("relay", o)
	s.drained()
	if got := lab.States(t, s.pool); got != "DEAD_LETTER=1 PUBLISHED=20" {
		t.Errorf("in the end: %s", got)
	}
	if text := lab.Value[string](t, s.pool, `SELECT error_type FROM outbox WHERE state = 'DEAD_LETTER'`); text != "crash loop" {
		t.Errorf("the poison died of %q", text)
	}
	// The poison itself is never in the journal: put it there for the check.
	id := lab.Value[int64](t, s.pool, `SELECT id FROM outbox WHERE state = 'DEAD_LETTER'`)
	s.journal.Write(lab.Event{Kind: lab.Died, Entry: id})
	s.journal.Check(t, s.pool, 20)
}
