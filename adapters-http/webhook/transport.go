package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of one connection.
const (
	connectTimeout      = 10 * time.Second
	handshakeTimeout    = 10 * time.Second
	idleTimeout         = 30 * time.Second
	idlePerHost         = 8
	idleInAll           = 256
	maxResponseHeaders  = 64 << 10
	keepAliveProbeEvery = 15 * time.Second
)

// transports keeps the connections of a handler, apart by what was checked about
// them: a connection that one endpoint may have to a private address must not be
// reused for another endpoint with the same host that may not.
type transports struct {
	guarded *http.Transport // public addresses only
	open    *http.Transport // any address
	proxied *http.Transport // the proxy in the request's context
	proxy   func(*http.Request) (*url.URL, error)
}

// proxyKey is the context key of the proxy that was chosen for a request.
type proxyKey struct{}

func newTransports(cfg Config) *transports {
	plain := &net.Dialer{Timeout: connectTimeout, KeepAlive: keepAliveProbeEvery}
	t := &transports{
		guarded: newTransport(cfg.TLS, guard{allowed: public}.dial),
		open:    newTransport(cfg.TLS, plain.DialContext),
		proxied: newTransport(cfg.TLS, plain.DialContext),
		proxy:   cfg.Proxy,
	}
	// The choice is made once for each request, by roundTrip. Were the function asked
	// again here, and answered "none" this time, the request would go out unchecked.
	t.proxied.Proxy = func(r *http.Request) (*url.URL, error) {
		return r.Context().Value(proxyKey{}).(*url.URL), nil
	}
	return t
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func newTransport(base *tls.Config, dial dialFunc) *http.Transport {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		cfg = base.Clone()
		cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	}
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        cfg,
		ForceAttemptHTTP2:      true, // a dialer of one's own switches it off otherwise
		TLSHandshakeTimeout:    handshakeTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxIdleConns:           idleInAll,
		MaxResponseHeaderBytes: maxResponseHeaders,
		DisableCompression:     true, // nobody reads the response's body
	}
}

// roundTrip sends r over the connections that suit the endpoint.
func (t *transports) roundTrip(r *http.Request, allowPrivate bool) (*http.Response, error) {
	if t.proxy != nil {
		proxy, err := t.proxy(r)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			return t.proxied.RoundTrip(r.WithContext(context.WithValue(r.Context(), proxyKey{}, proxy)))
		}
	}
	if allowPrivate {
		return t.open.RoundTrip(r)
	}
	return t.guarded.RoundTrip(r)
}

// closeIdle closes the connections that are idle, and those in use once they are.
func (t *transports) closeIdle() {
	for _, transport := range []*http.Transport{t.guarded, t.open, t.proxied} {
		transport.CloseIdleConnections()
	}
}

// errSomePrivate replaces a refusal when other addresses of the name were tried.
var errSomePrivate = errors.New("no public address accepted a connection")

// guard dials addresses that it allows only. The check is made on the address of
// each single connection, after the name was resolved, so a name that leads
// elsewhere the second time it is asked for gains nothing.
type guard struct {
	resolver *net.Resolver // nil means the system's
	allowed  func(netip.Addr) bool
}

func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var tried atomic.Bool
	dialer := net.Dialer{
		Timeout:   connectTimeout,
		KeepAlive: keepAliveProbeEvery,
		Resolver:  g.resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !g.allowed(to.Addr()) {
				return ErrPrivateAddress
			}
			tried.Store(true)
			return nil
		},
	}
	conn, err := dialer.DialContext(ctx, network, address)
	// With one private and one public address, the dialer may report the refusal
	// although it is the public one that is down, for now.
	if errors.Is(err, ErrPrivateAddress) && tried.Load() {
		return nil, errSomePrivate
	}
	return conn, err
}
