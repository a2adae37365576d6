package wakeup

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
)

// sleeper is a relay that polls so rarely that polling cannot help a test, and the numbers of what it delivered.
type sleeper struct {
	*testing.T
	db        *lab.Database
	pool      *pgxpool.Pool
	delivered chan int
}

// newSleeper runs a relay with a listener.
func newSleeper(t *testing.T, adjust func(*relay.Config), do func(n int) error) *sleeper {
	t.Helper()
	t.Parallel()
	db := lab.New(t)
	s := &sleeper{T: t, db: db, pool: db.Pool(t), delivered: make(chan int, 1000)}
	s.join(adjust, lab.Kind, do)
	s.asleep(1)
	return s
}

// join adds a relay for one destination type.
func (s *sleeper) join(adjust func(*relay.Config), kind destination.Type, do func(n int) error) {
	s.Helper()
	cfg := relay.Config{
		PollingInterval: 10 * time.Minute, LeaseTimeout: 2 * time.Second,
		Waker: lab.Listen(s, s.db, listener.Config{}),
	}
	if adjust != nil {
		adjust(&cfg)
	}
	lab.Relay(s, lab.Store(s, s.pool), cfg, lab.Handler{Serves: kind, Do: func(_ context.Context, e delivery.Envelope) error {
		if do != nil {
			if err := do(lab.Number(e)); err != nil {
				return err
			}
		}
		s.delivered <- lab.Number(e)
		return nil
	}})
}

// asleep waits until so many relays sleep and have looked for the last time.
func (s *sleeper) asleep(relays int) {
	s.Helper()
	lab.Eventually(s, "the relay falls asleep", func() bool {
		return lab.Value[int](s, s.pool, `SELECT count(*) FROM outbox_relay WHERE asleep`) == relays
	})
	time.Sleep(300 * time.Millisecond) // two looks follow, 50 ms apart
}

func (s *sleeper) gets(want int) {
	s.Helper()
	if got := lab.Receive(s, "a delivery that no poll makes", s.delivered); got != want {
		s.Errorf("delivered %d, want %d", got, want)
	}
}

func TestPublishedEntryWakes(t *testing.T) {
	s := newSleeper(t, nil, nil)
	for n := range 5 {
		lab.Publish(t, s.pool, lab.Entry("a", n))
		s.gets(n)
		s.asleep(1)
	}
}

func TestRetryWakes(t *testing.T) {
	failures := 0
	s := newSleeper(t, func(cfg *relay.Config) { cfg.BackoffBase = time.Second }, func(int) error {
		if failures++; failures < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	lab.Publish(t, s.pool, lab.Entry("a", 1))
	s.gets(1)
}

func TestScheduledEntryWakes(t *testing.T) {
	s := newSleeper(t, nil, nil)
	in := func(n int, wait time.Duration) {
		e := lab.Entry("", n)
		e.ScheduledAt = time.Now().Add(wait)
		lab.Publish(t, s.pool, e)
	}
	in(2, 2*time.Second)
	in(1, time.Second) // comes later, is due earlier
	s.gets(1)
	s.gets(2)
}

func TestReclaimedEntryWakes(t *testing.T) {
	s := newSleeper(t, nil, nil)
	gone := lab.Store(t, s.pool).Open(relay.SessionOptions{Owner: "gone"})
	scope, err := claim.Resolve(claim.Capabilities{"OTHER": claim.All()})
	if err != nil {
		t.Fatal(err)
	}
	e := lab.Entry("a", 1)
	e.DestinationType = "OTHER"
	lab.Publish(t, s.pool, e)
	if b, err := gone.Claim(t.Context(), relay.ClaimRequest{Limit: 1, RunLength: 1, Lease: time.Hour, Scope: scope}); err != nil || len(b.Records) != 1 {
		t.Fatalf("%d claimed, %v", len(b.Records), err)
	}
	// Now it is one of ours: nothing but the recovery can tell the relay.
	s.db.Exec(t, `UPDATE outbox SET destination_type = 'TEST'; UPDATE outbox_lease SET expires_at = now() - interval '1 s'`)
	s.asleep(1)
	report, err := maintenance.Recovery{Store: lab.Store(t, s.pool)}.Run(t.Context())
	if err != nil || report.Reclaimed.Returned != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	s.gets(1)
}

func TestSuccessorsFollowAtOnce(t *testing.T) {
	s := newSleeper(t, func(cfg *relay.Config) { cfg.RunLength = 1 }, nil)
	entries := lab.Sized(50, 500)
	for n := range entries {
		lab.Publish(t, s.pool, lab.Entry("a", n))
	}
	for n := range entries {
		s.gets(n)
	}
}

// The entries of one aggregate go to two nodes by turns: each settlement has to wake the other node.
func TestSuccessorOfAnotherNodeWakesIt(t *testing.T) {
	s := newSleeper(t, nil, nil)
	const other = "OTHER"
	s.join(nil, other, nil)
	s.asleep(2)
	const turns = 12
	for n := range turns {
		e := lab.Entry("a", n)
		if n%2 == 1 {
			e.DestinationType = other
		}
		lab.Publish(t, s.pool, e)
	}
	for n := range turns {
		s.gets(n)
	}
}

// A relay that sleeps while the listener's connection is being replaced: what it missed, it finds when that is done.
func TestReconnectionWakes(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	pool := db.Pool(t)
	proxy := lab.NewProxy(t, db.Host())
	l := lab.Listen(t, db.Through(proxy, "replaced"), listener.Config{})
	s := &sleeper{T: t, db: db, pool: pool, delivered: make(chan int, 10)}
	s.join(func(cfg *relay.Config) { cfg.Waker = l }, lab.Kind, nil)
	s.asleep(1)
	proxy.Refuse()
	proxy.Cut()
	lab.Eventually(t, "the listener is down", func() bool { return l.State() == listener.Down })
	lab.Publish(t, pool, lab.Entry("a", 1))
	time.Sleep(200 * time.Millisecond)
	proxy.Heal()
	s.gets(1)
}
