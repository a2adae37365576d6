package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// generous bounds what should take no time at all.
const generous = 30 * time.Second

// server starts a receiver and an endpoint for it, named "orders".
func server(t *testing.T, receive http.HandlerFunc) Endpoint {
	t.Helper()
	s := httptest.NewServer(receive)
	t.Cleanup(s.Close)
	return local(s.URL)
}

func local(url string) Endpoint {
	return Endpoint{ID: "orders", URL: url, Secrets: []Secret{NewSecret()}, AllowInsecure: true, AllowPrivate: true}
}

// handlerFor starts a handler that knows the endpoints.
func handlerFor(t *testing.T, cfg Config, endpoints ...Endpoint) *Handler {
	t.Helper()
	registry, err := NewRegistry(endpoints...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Source = registry
	h, err := NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	return h
}

func envelope(payload string) delivery.Envelope {
	return delivery.Envelope{
		ID: 1, MessageID: outbox.NewMessageID(), DestinationType: destination.HTTP, Destination: "orders",
		EventType: "order.placed", Payload: []byte(payload), ContentType: outbox.JSONContentType, Attempt: 1,
	}
}

func TestDeliverSendsSignedRequest(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	endpoint := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	})
	old := NewSecret()
	endpoint.URL += "/hooks?tenant=7"
	endpoint.Secrets = append(endpoint.Secrets, old)
	e := envelope(`{"n": 9007199254740993}`)
	e.Headers = map[string]string{"x-app": "1"}
	e.Metadata.Context = map[string]json.RawMessage{"correlation": json.RawMessage(`"c-1"`)}
	if err := handlerFor(t, Config{}, endpoint).Deliver(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if got.Method != http.MethodPost || got.RequestURI != "/hooks?tenant=7" || !bytes.Equal(body, e.Payload) {
		t.Errorf("got %s %s with %q", got.Method, got.RequestURI, body)
	}
	for name, want := range map[string]string{
		"webhook-id": e.MessageID.String(), "Content-Type": "application/json", "User-Agent": DefaultUserAgent,
		"satchel-event-type": "order.placed", "satchel-correlation": "c-1", "x-app": "1",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: got %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if _, sent := got.Header["Idempotency-Key"]; sent || got.Header.Get("Accept-Encoding") != "" {
		t.Error("a header was sent that should not be")
	}
	for _, secret := range []Secret{endpoint.Secrets[0], old} {
		if err := Verify(got.Header, body, []Secret{secret}, 0); err != nil {
			t.Errorf("a receiver with one of the secrets refuses: %v", err)
		}
	}
	if n := len(strings.Fields(got.Header.Get(HeaderSignature))); n != 2 {
		t.Errorf("got %d signatures, want 2", n)
	}
}

func TestDeliverPayloads(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 1)
	endpoint := server(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.ContentLength != int64(len(body)) {
			body = fmt.Appendf(nil, "content length %d", r.ContentLength)
		}
		bodies <- body
	})
	h := handlerFor(t, Config{MaxPayloadBytes: 100}, endpoint)
	for _, payload := range []string{"", "null", `""`, "\x00\xff\r\n", strings.Repeat("x", 100)} {
		e := envelope(payload)
		e.ContentType = "application/octet-stream"
		if err := h.Deliver(t.Context(), e); err != nil {
			t.Fatalf("%.20q: %v", payload, err)
		}
		if body := <-bodies; string(body) != payload {
			t.Errorf("sent %.20q, received %.20q", payload, body)
		}
	}
	err := h.Deliver(t.Context(), envelope(strings.Repeat("x", 101)))
	if delivery.VerdictOf(err) != delivery.VerdictPermanent || !errors.Is(err, ErrPayloadTooLarge) {
		t.Fatalf("a payload over the limit: %v", err)
	}
}

func TestDeliverReadsTheAnswer(t *testing.T) {
	t.Parallel()
	endpoint := server(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscan(r.Header.Get("X-Want"), &status)
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "s3cret answer")
	})
	h := handlerFor(t, Config{}, endpoint)
	for status, want := range map[int]delivery.Verdict{
		200: delivery.VerdictDelivered, 204: delivery.VerdictDelivered, 301: delivery.VerdictPermanent, 307: delivery.VerdictPermanent,
		400: delivery.VerdictPermanent, 404: delivery.VerdictPermanent, 410: delivery.VerdictPermanent, 408: delivery.VerdictRetryable,
		425: delivery.VerdictRetryable, 429: delivery.VerdictRetryable, 500: delivery.VerdictRetryable, 503: delivery.VerdictRetryable,
	} {
		e := envelope("{}")
		e.Headers = map[string]string{"X-Want": fmt.Sprint(status)}
		err := h.Deliver(t.Context(), e)
		if got := delivery.VerdictOf(err); got != want {
			t.Errorf("%d: got %v (%v), want %v", status, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: the error repeats the answer", status)
		}
		if want == delivery.VerdictRetryable && delivery.WaitOf(err) != 5*time.Second {
			t.Errorf("%d: a wait of %v", status, delivery.WaitOf(err))
		}
	}
}

func TestDeliverRefusesBeforeSending(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	endpoint := server(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	h := handlerFor(t, Config{}, endpoint)
	unknown := envelope("{}")
	unknown.Destination = endpoint.URL // a URL in a row leads nowhere
	if err := h.Deliver(t.Context(), unknown); delivery.VerdictOf(err) != delivery.VerdictUnresolvable ||
		!errors.Is(err, ErrUnknownEndpoint) || strings.Contains(err.Error(), endpoint.URL) {
		t.Errorf("unknown endpoint: %v", err)
	}
	header := envelope("{}")
	header.Headers = map[string]string{"a b": "c"}
	if err := h.Deliver(t.Context(), header); delivery.VerdictOf(err) != delivery.VerdictPermanent {
		t.Errorf("a header that cannot be sent: %v", err)
	}
	for range 2 {
		if err := h.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := h.Deliver(t.Context(), envelope("{}")); delivery.VerdictOf(err) != delivery.VerdictUnresolvable || !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// own is a source that validates nothing.
type own map[string]Endpoint

func (s own) IDs() []string { return []string{"orders", "broken"} }

func (s own) Endpoint(id string) (Endpoint, bool) { e, ok := s[id]; return e, ok }

func TestDeliverWithOwnSource(t *testing.T) {
	t.Parallel()
	good := server(t, func(http.ResponseWriter, *http.Request) {})
	h, err := NewHandler(Config{Source: own{"orders": good, "broken": {ID: "broken", URL: "http://s3cret.example/"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	if err := h.Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	e := envelope("{}")
	e.Destination = "broken"
	err = h.Deliver(t.Context(), e)
	if delivery.VerdictOf(err) != delivery.VerdictUnresolvable || !errors.Is(err, ErrMisconfigured) || strings.Contains(err.Error(), "s3cret") {
		t.Fatalf("a misconfigured endpoint: %v", err)
	}
	snapshot, err := claim.Resolve(claim.Capabilities{h.Type(): h.Scope()})
	if err != nil || !snapshot.Allows(destination.HTTP, "broken") || snapshot.Allows(destination.HTTP, "other") {
		t.Fatalf("scope: %v, %v", snapshot, err)
	}
}

func TestScopeIsLive(t *testing.T) {
	t.Parallel()
	registry := new(Registry)
	h, err := NewHandler(Config{Source: registry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	allowed := func() bool {
		snapshot, err := claim.Resolve(claim.Capabilities{h.Type(): h.Scope()})
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.Allows(destination.HTTP, "orders")
	}
	if allowed() {
		t.Error("an empty registry claims")
	}
	if err := registry.Set(endpointNamed("orders")); err != nil {
		t.Fatal(err)
	}
	if !allowed() {
		t.Error("a new endpoint is not claimed for")
	}
	registry.Remove("orders")
	if allowed() {
		t.Error("a removed endpoint is claimed for")
	}
}

func TestDeliverLeavesTheEnvelopeAlone(t *testing.T) {
	t.Parallel()
	endpoint := server(t, func(http.ResponseWriter, *http.Request) {})
	h := handlerFor(t, Config{}, endpoint)
	e := envelope(`{"a": 1}`)
	e.Headers = map[string]string{"x-a": "1", "authorization": "2"}
	e.Metadata.Context = map[string]json.RawMessage{"locale": json.RawMessage(` "de" `)}
	before, _ := json.Marshal(e)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := h.Deliver(t.Context(), e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if after, _ := json.Marshal(e); !bytes.Equal(before, after) {
		t.Fatalf("before %s\nafter  %s", before, after)
	}
}

func TestDeliverWithEndedContext(t *testing.T) {
	t.Parallel()
	h := handlerFor(t, Config{}, server(t, func(http.ResponseWriter, *http.Request) {}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.Deliver(ctx, envelope("{}"))
	if delivery.VerdictOf(err) != delivery.VerdictRetryable || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v (%v)", delivery.VerdictOf(err), err)
	}
}
