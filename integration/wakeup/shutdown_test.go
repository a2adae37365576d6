package wakeup

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
)

// Run returns soon in every situation, and its goroutines end. This test runs alone: others would bring goroutines.
func TestRunReturnsAndLeavesNothing(t *testing.T) {
	db := lab.New(t)
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, p *lab.Proxy) // before Run
		disturb func(p *lab.Proxy)               // when it runs
		state   string                           // to wait for before that; empty for any
	}{
		{"all is well", nil, nil, "connected"},
		{"cut off", nil, func(p *lab.Proxy) { p.Refuse(); p.Cut() }, "down"},
		{"half open", nil, func(p *lab.Proxy) { p.Freeze(false) }, "connected"},
		{"nothing answers any more", nil, func(p *lab.Proxy) { p.Freeze(true) }, "connected"},
		{"nothing ever answered", func(_ *testing.T, p *lab.Proxy) { p.Freeze(true) }, nil, "down"},
		{"refused from the start", func(_ *testing.T, p *lab.Proxy) { p.Refuse() }, nil, "down"},
		{"deaf", func(_ *testing.T, p *lab.Proxy) { p.Rewrite(unlisten) }, nil, "deaf"},
		{"not allowed to listen", func(_ *testing.T, p *lab.Proxy) { p.Rewrite(refused) }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			proxy := lab.NewProxy(t, db.Host())
			if c.prepare != nil {
				c.prepare(t, proxy)
			}
			var log lab.Log
			l, err := listener.New(db.Through(proxy, "ending").URL, quick(&log))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- l.Run(ctx) }()
			lab.Eventually(t, "it is "+c.state, func() bool {
				return (c.state == "" || l.State().String() == c.state) && proxy.Accepted() > 0
			})
			if c.disturb != nil {
				c.disturb(proxy)
			}
			time.Sleep(700 * time.Millisecond) // into the middle of a check
			began := time.Now()
			cancel()
			if err := lab.Receive(t, "Run returns", ended); err != nil {
				t.Errorf("ended with %v", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v, want about two seconds at most", took)
			}
			if l.State() != listener.Down {
				t.Errorf("%s after the end", l.State())
			}
			proxy.Close()
			if err := lab.Leaks(before); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunIsExclusiveAndRepeatable(t *testing.T) {
	t.Parallel()
	db := lab.New(t)
	l, err := listener.New(db.URL, listener.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		stop := lab.Background(t, "listener", l.Run)
		lab.Eventually(t, "it connects", func() bool { return l.State() == listener.Connected })
		if err := l.Run(t.Context()); !errors.Is(err, listener.ErrRunning) {
			t.Errorf("a second Run: %v", err)
		}
		stop()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Run(ctx); err != nil {
		t.Errorf("Run with a context that has ended: %v", err)
	}
}

// closedPort returns an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestUnreachableServerIsSaidOnce(t *testing.T) {
	t.Parallel()
	var log lab.Log
	l, err := listener.New("postgres://nobody@"+closedPort(t)+"/none?sslmode=disable", quick(&log))
	if err != nil {
		t.Fatal(err)
	}
	stop := lab.Background(t, "listener", l.Run)
	time.Sleep(time.Second)
	stop()
	if n := len(log.Lines()); n > 2 || l.State() != listener.Down {
		t.Errorf("%s: %v", l.State(), log.Lines())
	}
}
