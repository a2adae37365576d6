package wakeup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
)

// quick is a listener that notices and reconnects quickly.
func quick(log *lab.Log) listener.Config {
	return listener.Config{
		MinReconnect: 10 * time.Millisecond, MaxReconnect: 50 * time.Millisecond,
		CheckEvery: 200 * time.Millisecond, EchoTimeout: time.Second, Logger: log.Logger(),
	}
}

// hinted sends notifications, over a way of its own, until the subscriber gets a hint.
func hinted(t *testing.T, pool *pgxpool.Pool, hints <-chan struct{}) {
	t.Helper()
	lab.Eventually(t, "a notification arrives", func() bool {
		if _, err := pool.Exec(lab.Context(t), `SELECT pg_notify($1, '')`, listener.Channel); err != nil {
			return false
		}
		select {
		case <-hints:
			return true
		case <-time.After(20 * time.Millisecond):
			return false
		}
	})
}

// drain forgets hints of the past.
func drain(hints <-chan struct{}) {
	for quiet := false; !quiet; {
		select {
		case <-hints:
		case <-time.After(50 * time.Millisecond):
			quiet = true
		}
	}
}

func TestEveryPayloadIsAHint(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	l := lab.Listen(t, db, listener.Config{})
	hints, cancel := l.Subscribe()
	defer cancel()
	hinted(t, pool, hints) // it listens
	for _, payload := range []string{"", "17", "not a number", `{"id":`, "\u00e4\u20ac\U0001F600", "'; DROP TABLE outbox; --", strings.Repeat("x", 7900)} {
		drain(hints)
		if _, err := pool.Exec(t.Context(), `SELECT pg_notify($1, $2)`, listener.Channel, payload); err != nil {
			t.Fatal(err)
		}
		lab.Receive(t, fmt.Sprintf("the hint of %.20q", payload), hints)
	}
}

func TestHintsThatNobodyReads(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	var log lab.Log
	l := lab.Listen(t, db, quick(&log))
	idle, cancelIdle := l.Subscribe() // reads nothing for a long time
	defer cancelIdle()
	hints, cancel := l.Subscribe()
	hinted(t, pool, hints)
	cancel()
	for range 5 {
		if _, err := pool.Exec(t.Context(), `SELECT pg_notify($1, g::text) FROM generate_series(1, 1000) g`, listener.Channel); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Second) // several checks
	if n := log.Count("listener down") + log.Count("listener deaf"); n != 0 || l.State() != listener.Connected {
		t.Errorf("%s after %v", l.State(), log.Lines())
	}
	lab.Receive(t, "the hint that waited", idle)
	drain(hints)
	if len(hints) != 0 {
		t.Error("a cancelled subscription still gets hints")
	}
}

// A network that forgets a connection and says nothing to either side.
func TestHalfOpenConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		swallow time.Duration // new connections hang as well, for so long
	}{{"only this connection", 0}, {"all connections for a while", 2500 * time.Millisecond}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := lab.New(t)
			pool := db.Pool(t)
			proxy := lab.NewProxy(t, db.Host())
			var log lab.Log
			l := lab.Listen(t, db.Through(proxy, "half-open"), quick(&log))
			hints, cancel := l.Subscribe()
			defer cancel()
			hinted(t, pool, hints)
			proxy.Freeze(c.swallow > 0)
			time.Sleep(c.swallow)
			proxy.Heal()
			lab.Eventually(t, "it says that the connection is lost", func() bool { return log.Count("listener down") > 0 })
			lab.Eventually(t, "it says that it is connected", func() bool { return l.State() == listener.Connected })
			drain(hints)
			hinted(t, pool, hints)
		})
	}
}

func TestConnectionThatIsCutOrSlow(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	proxy := lab.NewProxy(t, db.Host())
	var log lab.Log
	cfg := quick(&log)
	cfg.EchoTimeout = 20 * time.Second // far longer than the delays below, on any machine
	l := lab.Listen(t, db.Through(proxy, "cut"), cfg)
	hints, cancel := l.Subscribe()
	defer cancel()
	hinted(t, pool, hints)
	for range 5 {
		proxy.Cut()
		drain(hints)
		hinted(t, pool, hints)
	}
	lab.Eventually(t, "it is connected", func() bool { return l.State() == listener.Connected })
	before := log.Count("listener down")
	proxy.Delay(30 * time.Millisecond) // each way, each piece
	drain(hints)
	hinted(t, pool, hints)
	time.Sleep(time.Second)
	if after := log.Count("listener down"); after != before {
		t.Errorf("a slow network is taken for a dead one: %v", log.Lines())
	}
}

func TestBackendTerminated(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	const name = "satchel terminated"
	l := lab.Listen(t, db.Named(name), listener.Config{})
	hints, cancel := l.Subscribe()
	defer cancel()
	sessions := func() (pids []int32) {
		rows, err := pool.Query(lab.Context(t), `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'`, name)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var pid int32
			if err := rows.Scan(&pid); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return pids
	}
	for range 20 {
		hinted(t, pool, hints)
		before := sessions()
		if len(before) != 1 {
			t.Fatalf("%d listening sessions", len(before))
		}
		lab.Value[bool](t, pool, `SELECT pg_terminate_backend($1)`, before[0])
		lab.Eventually(t, "one new session listens", func() bool {
			now := sessions()
			return len(now) == 1 && now[0] != before[0]
		})
		drain(hints)
	}
}

func TestServerRestarted(t *testing.T) {
	t.Parallel()
	server, db := lab.Private(t, nil)
	pool := db.Pool(t)
	var log lab.Log
	l := lab.Listen(t, db, quick(&log))
	hints, cancel := l.Subscribe()
	defer cancel()
	hinted(t, pool, hints)
	if err := server.Restart(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	lab.Receive(t, "a reconnection is a hint by itself", hints)
	drain(hints)
	hinted(t, pool, hints)
}
