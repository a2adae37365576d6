package webhook

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	proxy := server(t, func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.String()) })
	proxyURL, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := local("http://receiver.example/hook")
	endpoint.AllowPrivate = false
	h := handlerFor(t, Config{Proxy: http.ProxyURL(proxyURL)}, endpoint)
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != endpoint.URL {
		t.Errorf("the proxy was asked for %v", asked.Load())
	}

	// A function that wants no proxy for a request gets the check of addresses.
	direct := server(t, func(http.ResponseWriter, *http.Request) { t.Error("a private address was reached") })
	direct.AllowPrivate = false
	direct.URL = strings.Replace(direct.URL, "127.0.0.1", "localhost", 1)
	calls := 0
	h = handlerFor(t, Config{Proxy: func(*http.Request) (*url.URL, error) { calls++; return nil, nil }}, direct)
	want(t, h.Deliver(t.Context(), envelope("{}")), delivery.VerdictPermanent, false)
	if calls != 1 {
		t.Errorf("asked for a proxy %d times", calls)
	}

	failing := handlerFor(t, Config{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("s3cret") }}, endpoint)
	err = failing.Deliver(t.Context(), envelope("{}"))
	want(t, err, delivery.VerdictUnavailable, false)
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the text repeats the cause: %v", err)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Parallel()
	h := handlerFor(t, Config{})
	for _, transport := range []*http.Transport{h.transports.guarded, h.transports.open} {
		if transport.Proxy != nil {
			t.Error("a transport without a proxy looks for one")
		}
	}
}
