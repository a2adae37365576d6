package lab

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy forwards TCP connections to a server until it is told to do otherwise.
type Proxy struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond
	links    map[*link]struct{}
	closed   bool
	swallow  bool // new connections are frozen from the start
	refuse   bool
	delay    time.Duration
	rewrite  func([]byte) []byte
	accepted int
}

// link is a connection with its other half.
type link struct {
	client, server net.Conn
	frozen, closed bool // guarded by the proxy's mu
}

// NewProxy returns a proxy for a server, which is closed when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, links: map[*link]struct{}{}}
	p.changed = sync.NewCond(&p.mu)
	p.all.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Address is where clients connect.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Accepted counts the connections so far.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Freeze keeps the present connections open and forwards nothing any more, as a network that drops every packet. New
// connections work, unless swallow is set: then they are accepted and frozen too.
func (p *Proxy) Freeze(swallow bool) {
	p.set(func() {
		p.swallow = swallow
		for l := range p.links {
			l.frozen = true
		}
	})
}

// Heal lets new connections work. Those that are frozen stay so, as behind a router that forgot them.
func (p *Proxy) Heal() { p.set(func() { p.swallow, p.refuse = false, false }) }

// Thaw forwards everything again, also what was held back.
func (p *Proxy) Thaw() {
	p.set(func() {
		p.swallow, p.refuse = false, false
		for l := range p.links {
			l.frozen = false
		}
	})
}

// Refuse closes new connections at once, until Heal.
func (p *Proxy) Refuse() { p.set(func() { p.refuse = true }) }

// Delay holds every piece of data back for a while.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Rewrite changes what clients send; nil leaves it alone. The length must stay.
func (p *Proxy) Rewrite(f func([]byte) []byte) { p.set(func() { p.rewrite = f }) }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.set(func() {
		for l := range p.links {
			p.end(l)
		}
	})
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// Close ends the proxy and all connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.set(func() { p.closed = true })
	p.Cut()
	p.all.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	refuse := p.refuse || p.closed
	p.accepted++
	p.mu.Unlock()
	if refuse {
		_ = client.Close()
		return
	}
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	p.set(func() {
		if p.closed {
			p.end(l)
			return
		}
		l.frozen = p.swallow
		p.links[l] = struct{}{}
	})
	p.all.Go(func() { p.pump(l, client, server, true) })
	p.pump(l, server, client, false)
}

// end closes a link; p.mu is held.
func (p *Proxy) end(l *link) {
	l.closed = true
	delete(p.links, l)
	_, _ = l.client.Close(), l.server.Close()
}

// pump forwards one direction.
func (p *Proxy) pump(l *link, from, to net.Conn, upstream bool) {
	defer p.set(func() {
		if !l.frozen { // the other side of a frozen link must not learn of its end
			p.end(l)
		}
	})
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.forward(l, to, buffer[:n], upstream) || err != nil {
			return
		}
	}
}

// forward writes a piece of data when the link is not frozen.
func (p *Proxy) forward(l *link, to net.Conn, data []byte, upstream bool) bool {
	p.mu.Lock()
	delay := p.delay
	p.mu.Unlock()
	time.Sleep(delay)
	p.mu.Lock()
	for l.frozen && !l.closed {
		p.changed.Wait()
	}
	rewrite, closed := p.rewrite, l.closed
	p.mu.Unlock()
	if closed {
		return false
	}
	if upstream && rewrite != nil {
		data = rewrite(data)
	}
	_, err := to.Write(data)
	return err == nil
}
