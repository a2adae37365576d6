package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	endpoint := server(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	endpoint.AllowPrivate = false
	endpoint.URL = strings.Replace(endpoint.URL, "127.0.0.1", "localhost", 1) // a literal is refused earlier
	err := handlerFor(t, Config{}, endpoint).Deliver(t.Context(), envelope("{}"))
	want(t, err, delivery.VerdictPermanent, false)
	if !errors.Is(err, ErrPrivateAddress) || requests.Load() != 0 {
		t.Errorf("got %v after %d requests", err, requests.Load())
	}
}

// A connection that one endpoint may have is not reused for another that may not.
func TestAllowedConnectionsAreNotShared(t *testing.T) {
	t.Parallel()
	open := server(t, func(http.ResponseWriter, *http.Request) {})
	open.URL = strings.Replace(open.URL, "127.0.0.1", "localhost", 1)
	closed := open
	closed.ID, closed.AllowPrivate = "closed", false
	h := handlerFor(t, Config{}, open, closed)
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	e := envelope("{}")
	e.Destination = "closed"
	want(t, h.Deliver(t.Context(), e), delivery.VerdictPermanent, false)
}

// resolver answers every question for an IPv4 address with what lookup returns.
func resolver(t *testing.T, lookup func() []string) *net.Resolver {
	t.Helper()
	serve := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		for {
			var size [2]byte
			if _, err := io.ReadFull(conn, size[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(conn, query); err != nil {
				return
			}
			answer := answerDNS(query, lookup)
			_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
		}
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, served := net.Pipe() // not a packet connection, so the stream form is spoken
		go serve(served)
		return client, nil
	}}
}

// answerDNS answers a query of one question in the wire format.
func answerDNS(query []byte, lookup func() []string) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the root label, type and class
	var addresses []string
	if binary.BigEndian.Uint16(query[end-4:]) == 1 { // type A
		addresses = lookup()
	}
	out := append([]byte{}, query[:2]...)
	out = append(out, 0x81, 0x80, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0)
	out = append(out, query[12:end]...)
	for _, address := range addresses {
		ip := netip.MustParseAddr(address).As4()
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		out = append(out, ip[:]...)
	}
	return out
}

// In these tests the machine's 127.0.0.2 plays a public address.
func allow2(addr netip.Addr) bool { return addr == netip.MustParseAddr("127.0.0.2") }

func TestNameThatChanges(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	addresses := []string{"127.0.0.2"}
	g := guard{allowed: allow2, resolver: resolver(t, func() []string { return addresses })}
	conn, err := g.dial(t.Context(), "tcp", "receiver.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	addresses = []string{"127.0.0.1"}
	if _, err := g.dial(t.Context(), "tcp", "receiver.example:"+port); !errors.Is(err, ErrPrivateAddress) {
		t.Fatalf("the second time: %v", err)
	}
}

func TestNameWithSeveralAddresses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	g := guard{allowed: allow2, resolver: resolver(t, func() []string { return []string{"127.0.0.1", "127.0.0.2"} })}
	conn, err := g.dial(t.Context(), "tcp", "receiver.example:"+port)
	if err != nil {
		t.Fatalf("with a public address that listens: %v", err)
	}
	if got := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(); !allow2(got) {
		t.Errorf("connected to %v", got)
	}
	_ = conn.Close()
	_ = l.Close()
	// It is down for now, which a refusal for good must not hide.
	if _, err := g.dial(t.Context(), "tcp", "receiver.example:"+port); err == nil || errors.Is(err, ErrPrivateAddress) {
		t.Fatalf("with a public address that does not listen: %v", err)
	}
}
