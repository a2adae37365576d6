package wakeup

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
)

// unlisten makes a subscription come to nothing, as behind a pooler that lends the session to somebody else afterwards.
func unlisten(data []byte) []byte { return altered(data, "UNLISTEN *") }

// refused makes a subscription fail, as on a standby.
func refused(data []byte) []byte { return altered(data, "LISTEM") }

// altered replaces each LISTEN statement by another one, filled up to the same length.
func altered(data []byte, by string) []byte {
	const listen = `LISTEN "`
	data = bytes.Clone(data)
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(listen))
		if i < 0 {
			return data
		}
		i += from
		end := i + bytes.IndexByte(data[i:], 0)
		copy(data[i:end], bytes.Repeat([]byte(" "), end-i))
		copy(data[i:end], by)
		from = end
	}
}

func TestDeafListenerSaysSoOnceAndPollingGoesOn(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	proxy := lab.NewProxy(t, db.Host())
	proxy.Rewrite(unlisten)
	var log lab.Log
	l := lab.Listen(t, db.Through(proxy, "pooled"), quick(&log))
	delivered := make(chan int, 10)
	cfg := relay.Config{Waker: l, PollingInterval: 300 * time.Millisecond}
	lab.Relay(t, lab.Store(t, pool), cfg, lab.Handle(func(_ context.Context, e delivery.Envelope) error {
		delivered <- lab.Number(e)
		return nil
	}))
	lab.Eventually(t, "it finds out that it is deaf", func() bool { return l.State() == listener.Deaf })
	accepted := proxy.Accepted()
	lab.Publish(t, pool, lab.Entry("a", 1))
	lab.Receive(t, "polling finds the entry", delivered)

	// It tries again, quietly.
	lab.Eventually(t, "further attempts", func() bool { return proxy.Accepted() > accepted+6 })
	if n := log.Count("listener deaf"); n != 1 || l.State() != listener.Deaf {
		t.Errorf("said %d times, now %s: %v", n, l.State(), log.Lines())
	}
	if n := len(log.Lines()); n > 6 {
		t.Errorf("%d lines: %v", n, log.Lines())
	}

	// The pooler is taken out of the way.
	proxy.Rewrite(nil)
	lab.Eventually(t, "it hears again", func() bool { return l.State() == listener.Connected })
	hints, cancel := l.Subscribe()
	defer cancel()
	hinted(t, pool, hints)
}

func TestSubscriptionThatIsRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	proxy := lab.NewProxy(t, db.Host())
	proxy.Rewrite(refused)
	var log lab.Log
	l, err := listener.New(db.Through(proxy, "refused").URL, quick(&log))
	if err != nil {
		t.Fatal(err)
	}
	lab.Background(t, "listener", l.Run)
	hints, cancel := l.Subscribe()
	defer cancel()
	time.Sleep(time.Second)
	drain(hints)
	proxy.Rewrite(nil) // the standby was promoted
	hinted(t, pool, hints)
	lab.Eventually(t, "it says that it hears", func() bool { return l.State() == listener.Connected })
}

func TestReadOnlyDatabaseCanBeListenedTo(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	db.Exec(t, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	var log lab.Log
	l := lab.Listen(t, db, quick(&log))
	hints, cancel := l.Subscribe()
	defer cancel()
	hinted(t, pool, hints)
	time.Sleep(time.Second)
	if log.Count("deaf")+log.Count("down") > 0 {
		t.Errorf("%v", log.Lines())
	}
}
