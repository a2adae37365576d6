package destinations

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// secret signs the webhooks of these tests.
var secret = webhook.NewSecret()

// site is a web server that can go down and come back at the same address.
type site struct {
	address string
	handler http.Handler
	mu      sync.Mutex
	server  *http.Server
}

func newSite(t *testing.T, handler http.Handler) *site {
	t.Helper()
	s := &site{address: "127.0.0.1:0", handler: handler}
	if err := s.up(lab.Context(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.down(context.Background()) })
	return s
}

// up listens. Where the port is taken, for the moment, by a connection of somebody else, it tries again.
func (s *site) up(ctx context.Context) error {
	for {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.address = listener.Addr().String()
			s.server = &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute}
			go func() { _ = s.server.Serve(listener) }()
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// down closes every connection.
func (s *site) down(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.Close()
}

// endpoint is a site of ours, as the sender knows it.
func (s *site) endpoint(id string) webhook.Endpoint {
	return webhook.Endpoint{
		ID: id, URL: "http://" + s.address + "/hook", Secrets: []webhook.Secret{secret},
		AllowInsecure: true, AllowPrivate: true,
	}
}

// webhookHandler returns a handler for endpoints, closed when the test ends.
func webhookHandler(t *testing.T, endpoints ...webhook.Endpoint) *webhook.Handler {
	t.Helper()
	registry, err := webhook.NewRegistry(endpoints...)
	if err != nil {
		t.Fatal(err)
	}
	h, err := webhook.NewHandler(webhook.Config{Source: registry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	return h
}

// One of two endpoints of the same handler goes down: the breaker is its own.
func TestEndpointGoesDownAndComesBack(t *testing.T) {
	t.Parallel()
	arrived := &arrivals{}
	frail, steady := newSite(t, arrived), newSite(t, &arrivals{})
	pool := lab.New(t).Pool(t)
	entry := func(endpoint string) func(n int) outbox.Entry {
		return func(n int) outbox.Entry {
			aggregate, number := turns(n)
			return outbox.Entry{
				DestinationType: destination.HTTP, Destination: endpoint, EventType: "order.confirmed",
				AggregateID: endpoint + "/" + aggregate, Payload: payload{number},
			}
		}
	}
	o := outage{
		pool:   pool,
		victim: entry("frail"), bystander: entry("steady"),
		handler: webhookHandler(t, frail.endpoint("frail"), steady.endpoint("steady")),
		down:    frail.down, up: frail.up,
		length: time.Duration(lab.Sized(5, 60)) * time.Second,
	}
	o.run(t)
	want := lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE destination = 'frail'`)
	if got := arrived.distinct(); got != want {
		t.Errorf("%d of %d entries arrived", got, want)
	}
}

// arrivals is an endpoint that remembers whose message came.
type arrivals struct {
	mu  sync.Mutex
	ids map[string]bool
}

// ServeHTTP implements http.Handler.
func (a *arrivals) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = map[string]bool{}
	}
	a.ids[r.Header.Get(webhook.HeaderID)] = true
}

func (a *arrivals) distinct() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids)
}
