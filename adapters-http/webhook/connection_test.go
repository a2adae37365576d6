package webhook

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, maxDrainBytes/2))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	h := handlerFor(t, Config{}, local(s.URL))
	for range 5 {
		if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("5 deliveries took %d connections", n)
	}
	// A kept connection that the receiver closed costs no attempt.
	s.CloseClientConnections()
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Errorf("after the receiver closed the connection: %v", err)
	}
}

func TestCloseClosesKeptConnections(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	h := handlerFor(t, Config{}, local(s.URL))
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(idleTimeout / 2): // long before it would end by itself
		t.Fatal("the connection is still open")
	}
}

// A receiver that goes away while a connection to it is kept is unavailable: the
// request is repeated on a new connection, which cannot be made.
func TestKeptConnectionOfAReceiverThatIsGone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		for answered := false; ; answered = true {
			request, err := http.ReadRequest(in)
			if err == nil {
				_, err = io.Copy(io.Discard, request.Body)
			}
			if err != nil || answered {
				served <- err // gone without an answer, and nobody listens any more
				return
			}
			_ = l.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	}()
	h := handlerFor(t, Config{}, local("http://"+l.Addr().String()))
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	want(t, h.Deliver(t.Context(), envelope("{}")), delivery.VerdictUnavailable, false)
	if err := <-served; err != nil {
		t.Fatalf("the second request did not use the kept connection: %v", err)
	}
}
