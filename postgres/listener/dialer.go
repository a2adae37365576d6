package listener

import (
	"context"
	"net"
	"sync"
	"time"
)

// dialer remembers its connections, since closing them from outside is the only way to
// end a call of lib/pq that waits for a network that does not answer.
type dialer struct {
	// life ends every connection after this time, whatever it does; 0 lets it live.
	life time.Duration

	mu     sync.Mutex
	conns  map[*conn]struct{} // open
	closed bool
}

// conn is a connection that its dialer knows of.
type conn struct {
	net.Conn
	dialer *dialer
	opened time.Time
	death  *time.Timer // nil when it may live
}

// dialTimeout bounds one attempt to connect, and then, once more, what lib/pq does until
// it calls the connection made: the server's greeting and the LISTEN statements.
const dialTimeout = 5 * time.Second

// DialContext implements pq.DialerContext.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	raw, err := (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, dialer: d, opened: time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	if d.conns == nil {
		d.conns = map[*conn]struct{}{}
	}
	d.conns[c] = struct{}{}
	if d.life > 0 {
		c.death = time.AfterFunc(d.life, func() { _ = c.Close() })
	}
	return c, nil
}

// Dial implements pq.Dialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	death := c.death
	c.dialer.mu.Unlock()
	if death != nil {
		death.Stop()
	}
	return c.Conn.Close()
}

// cut closes the connections that are at least so old.
func (d *dialer) cut(age time.Duration) {
	d.mu.Lock()
	var old []*conn
	for c := range d.conns {
		if time.Since(c.opened) >= age {
			old = append(old, c)
		}
	}
	d.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
}

// close cuts all connections and refuses to make another.
func (d *dialer) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cut(0)
}
