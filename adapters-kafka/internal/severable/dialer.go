// Package severable holds a dialer whose connections can all be cut at once. The
// Kafka client takes no context, so cutting its connections is the only way to
// make it let go of a broker that accepts a connection and then says nothing.
package severable

import (
	"context"
	"errors"
	"net"
	"sync"
)

// ErrSevered is returned by Dial after Sever.
var ErrSevered = errors.New("kafka: the connections of this client were cut because it is closing")

// Base opens connections; *net.Dialer and every proxy dialer do.
type Base interface {
	Dial(network, address string) (net.Conn, error)
}

// Dialer opens connections through a [Base] and remembers them.
type Dialer struct {
	base   Base
	ctx    context.Context // ends with Sever; aborts dials that are under way
	cancel context.CancelFunc

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// New returns a dialer over base.
func New(base Base) *Dialer {
	ctx, cancel := context.WithCancel(context.Background())
	return &Dialer{base: base, ctx: ctx, cancel: cancel, conns: make(map[net.Conn]struct{})}
}

// Dial opens a connection, or returns ErrSevered.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	if d.ctx.Err() != nil {
		return nil, ErrSevered
	}
	inner, err := d.dial(network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil { // severed while the dial was under way
		_ = inner.Close()
		return nil, ErrSevered
	}
	c := &conn{Conn: inner, dialer: d}
	d.conns[c] = struct{}{}
	return c, nil
}

func (d *Dialer) dial(network, address string) (net.Conn, error) {
	type contextDialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	}
	if base, ok := d.base.(contextDialer); ok {
		return base.DialContext(d.ctx, network, address)
	}
	return d.base.Dial(network, address)
}

// Sever closes every open connection and refuses new ones from now on.
func (d *Dialer) Sever() {
	d.cancel()
	d.mu.Lock()
	open := make([]net.Conn, 0, len(d.conns))
	for c := range d.conns {
		open = append(open, c)
	}
	d.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// conn forgets itself when it is closed.
type conn struct {
	net.Conn
	dialer *Dialer
}

func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
