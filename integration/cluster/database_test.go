package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// A database that takes no writes for a while, as after a failover to a standby, and then does again. Nobody ends the
// sessions in between: the pool has to let go of them itself.
func TestReadOnlyAndBack(t *testing.T) {
	s := newStage(t)
	var log lab.Log
	cfg := lab.Fast()
	cfg.Logger = log.Logger()
	relays := s.db.Named("relays").Pool(t)
	lab.Relay(t, lab.Store(t, relays), cfg, s.journalled("node", nil))
	lab.Recover(t, lab.Store(t, s.pool), maintenance.Config{MaxClaims: maintenance.MaxMaxClaims})
	lab.Fill(t, s.pool, 5, 2)
	s.published(10)

	set := func(to string) {
		s.db.Exec(t, `BEGIN READ WRITE; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I `+to+`', current_database()); END $$; COMMIT`)
	}
	set("SET default_transaction_read_only = on")
	s.db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'relays'`)
	// The publishers' sessions are older than the setting and can still write.
	lab.Publish(t, s.pool, lab.Entry("late", 1))
	lab.Eventually(t, "claims fail", func() bool { return log.Count("claim failed") > 0 })
	time.Sleep(2 * time.Second)
	if n := len(log.Lines()); n > 60 {
		t.Errorf("%d log lines in two seconds", n)
	}
	set("RESET default_transaction_read_only")
	s.published(11)
	s.journal.Check(t, s.pool, 0)
}

// The outcomes of deliveries cannot be recorded for a while. Each lease leads to one more delivery at most, under the same
// message id, and all is well once the right is given back.
func TestOutcomesThatCannotBeRecorded(t *testing.T) {
	s := newStage(t)
	role := "satchel_it_" + strings.ToLower(rand.Text()[:12])
	s.db.Exec(t, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO %[1]s`, role))
	t.Cleanup(func() { s.db.Exec(t, fmt.Sprintf(`DROP OWNED BY %[1]s; DROP ROLE %[1]s`, role)) })
	u, err := url.Parse(s.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	limited := (&lab.Database{Name: s.db.Name, URL: u.String()}).Pool(t)

	var deliveries atomic.Int64
	cfg := lab.Fast()
	lab.Relay(t, lab.Store(t, limited), cfg, s.journalled("node", func(context.Context, int) error {
		if deliveries.Add(1) == 1 {
			s.db.Exec(t, `REVOKE UPDATE ON outbox FROM `+role)
		}
		return nil
	}))
	lab.Recover(t, lab.Store(t, s.pool), maintenance.Config{MaxClaims: maintenance.MaxMaxClaims})
	lab.Publish(t, s.pool, lab.Entry("a", 1))
	lab.Eventually(t, "the delivery", func() bool { return s.journal.Count(t, lab.Delivered) == 1 })
	time.Sleep(3 * time.Second)
	if n := deliveries.Load(); n > 1 { // without the right to update there is no claim either
		t.Errorf("%d deliveries while nothing could be recorded", n)
	}
	s.db.Exec(t, `GRANT UPDATE ON outbox TO `+role)
	s.published(1)
	if n := deliveries.Load(); n > 2 {
		t.Errorf("%d deliveries", n)
	}
	want := lab.Value[string](t, s.pool, `SELECT carrier_id::text FROM outbox`)
	for _, e := range s.journal.Events(t) {
		if e.Message != want {
			t.Errorf("delivered as %s, want %s", e.Message, want)
		}
	}
}

// A handler that takes long must cost the database nothing, and other nodes no time.
func TestSlowHandlerHoldsNothing(t *testing.T) {
	s := newStage(t)
	slow := s.db.Named("slow node").Pool(t)
	release, began := make(chan struct{}), make(chan struct{})
	cfg := lab.Fast()
	cfg.Owner = "slow"
	lab.Relay(t, lab.Store(t, slow), cfg, s.journalled("slow", func(_ context.Context, n int) error {
		if n == 1 {
			close(began)
			<-release
		}
		return nil
	}))
	lab.Publish(t, s.pool, lab.Entry("a", 1))
	lab.Receive(t, "the delivery begins", began)
	cfg.Owner = "quick"
	lab.Relay(t, lab.Store(t, s.pool), cfg, s.journalled("quick", nil))
	lab.Recover(t, lab.Store(t, s.pool), maintenance.Config{})
	for n := range 10 { // longer than the lease, which is renewed meanwhile
		lab.Publish(t, s.pool, lab.Entry(fmt.Sprint("other-", n), 2))
		s.published(n + 1)
		time.Sleep(150 * time.Millisecond)
		// A transaction of the store is over in a moment; one that is held lasts.
		lab.Eventually(t, "no old transaction, no lock outside one", func() bool {
			return lab.Value[int](t, s.pool, `SELECT count(*) FROM pg_stat_activity a LEFT JOIN pg_locks l USING (pid)
				WHERE a.application_name = 'slow node' AND a.datname = current_database()
				AND (a.state LIKE 'idle in transaction%' OR a.xact_start < now() - interval '500 ms' OR a.state = 'idle' AND l.pid IS NOT NULL)`) == 0
		})
		held := lab.Value[bool](t, s.pool, `SELECT NOT EXISTS (SELECT FROM outbox WHERE aggregate_id = 'a' FOR UPDATE SKIP LOCKED)`)
		if held {
			time.Sleep(50 * time.Millisecond)
			if lab.Value[bool](t, s.pool, `SELECT NOT EXISTS (SELECT FROM outbox WHERE aggregate_id = 'a' FOR UPDATE SKIP LOCKED)`) {
				t.Error("the row is locked while it is delivered")
			}
		}
	}
	close(release)
	s.published(11)
	s.journal.Check(t, s.pool, 0)
}
