package severable_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/severable"
)

// pipes is a Base whose connections lead to the test; without a context.
type pipes struct{ far []net.Conn }

func (p *pipes) Dial(string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.far = append(p.far, far)
	return near, nil
}

func TestSeverClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	base := &pipes{}
	d := severable.New(base)
	open, err := d.Dial("tcp", "a")
	if err != nil {
		t.Fatal(err)
	}
	d.Sever()
	d.Sever()
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("the connection still works")
	}
	if _, err := d.Dial("tcp", "a"); !errors.Is(err, severable.ErrSevered) {
		t.Errorf("dial after sever: %v", err)
	}
	if len(base.far) != 1 {
		t.Errorf("%d dials, want 1", len(base.far))
	}
}

// late is a Base that severs its own dialer while it dials.
type late struct {
	pipes
	sever func()
}

func (l *late) Dial(network, address string) (net.Conn, error) {
	l.sever()
	return l.pipes.Dial(network, address)
}

func TestSeverDuringDial(t *testing.T) {
	t.Parallel()
	base := &late{}
	d := severable.New(base)
	base.sever = d.Sever
	if _, err := d.Dial("tcp", "a"); !errors.Is(err, severable.ErrSevered) {
		t.Fatalf("dial: %v", err)
	}
	if _, err := base.far[0].Read(make([]byte, 1)); err == nil {
		t.Error("the connection was left open")
	}
}

// blocked is a Base that dials until its context ends.
type blocked struct{ began chan struct{} }

func (blocked) Dial(string, string) (net.Conn, error) { panic("the context was not used") }

func (b blocked) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	close(b.began)
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSeverAbortsDial(t *testing.T) {
	t.Parallel()
	base := blocked{began: make(chan struct{})}
	d := severable.New(base)
	result := make(chan error)
	go func() { _, err := d.Dial("tcp", "a"); result <- err }()
	<-base.began
	d.Sever()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v", err)
	}
}

// The user's proxy is dialled through, and his configuration is not changed.
func TestInstallKeepsTheProxy(t *testing.T) {
	t.Parallel()
	base := &pipes{}
	cfg := sarama.NewConfig()
	cfg.Net.Proxy.Enable, cfg.Net.Proxy.Dialer = true, base
	private, d := severable.Install(cfg)
	if _, err := private.Net.Proxy.Dialer.Dial("tcp", "a"); err != nil || len(base.far) != 1 {
		t.Errorf("the proxy was not used: %v", err)
	}
	d.Sever()
	if cfg.Net.Proxy.Dialer != base {
		t.Error("the given configuration was changed")
	}
	plain := sarama.NewConfig()
	if private, _ := severable.Install(plain); !private.Net.Proxy.Enable || plain.Net.Proxy.Enable {
		t.Error("without a proxy the dialer is not installed, or in the wrong place")
	}
}
