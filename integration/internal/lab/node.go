package lab

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/listener"
)

// Kind is the destination type of entries for which the type does not matter.
const Kind destination.Type = "TEST"

// Handler is a delivery.Handler made of a function.
type Handler struct {
	// Serves is the destination type; empty means Kind.
	Serves destination.Type
	// Names are the destinations; none means all.
	Names []string
	// Do makes the attempt.
	Do func(ctx context.Context, e delivery.Envelope) error
}

// Type implements delivery.Handler.
func (h Handler) Type() destination.Type {
	if h.Serves == "" {
		return Kind
	}
	return h.Serves
}

// Scope implements delivery.Handler.
func (h Handler) Scope() claim.Scope {
	if len(h.Names) == 0 {
		return claim.All()
	}
	return claim.Targets(func() []string { return h.Names })
}

// Deliver implements delivery.Handler.
func (h Handler) Deliver(ctx context.Context, e delivery.Envelope) error { return h.Do(ctx, e) }

// Handle returns a handler of Kind.
func Handle(do func(ctx context.Context, e delivery.Envelope) error) delivery.Handler {
	return Handler{Do: do}
}

// Number returns an entry's number within its aggregate.
func Number(e delivery.Envelope) int {
	var p struct{ N int }
	_ = json.Unmarshal(e.Payload, &p) // 0 for a payload of another form
	return p.N
}

// Fast is a relay configuration for tests of what does not concern waking up.
func Fast() relay.Config {
	return relay.Config{
		Strategy: relay.Polling, PollingInterval: 20 * time.Millisecond, BatchSize: 10,
		LeaseTimeout: time.Second, BackoffBase: 20 * time.Millisecond, BackoffMax: 200 * time.Millisecond,
		UnresolvableDelay: 100 * time.Millisecond,
	}
}

// Store returns the store on the tables that the pool's search_path finds.
func Store(t testing.TB, pool *pgxpool.Pool) *postgres.Store {
	t.Helper()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Relay runs a relay until the returned function is called, or the test ends. It must stop cleanly.
func Relay(t testing.TB, store relay.Store, cfg relay.Config, handlers ...delivery.Handler) (stop func()) {
	t.Helper()
	r, err := relay.New(store, handlers, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return Background(t, "relay", r.Run)
}

// Listen runs a listener until the test ends.
func Listen(t testing.TB, d *Database, cfg listener.Config) *listener.Listener {
	t.Helper()
	if cfg.MaxReconnect == 0 {
		cfg.MinReconnect, cfg.MaxReconnect = 20*time.Millisecond, 100*time.Millisecond
	}
	l, err := listener.New(d.URL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	Background(t, "listener", l.Run)
	Eventually(t, "the listener connects", func() bool { return l.State() == listener.Connected })
	return l
}

// Recover takes back expired leases every 100 ms until the test ends. Errors are ignored: the server may be down.
func Recover(t testing.TB, store maintenance.Store, cfg maintenance.Config) {
	Background(t, "recovery", func(ctx context.Context) error {
		for ctx.Err() == nil {
			_, _ = maintenance.Recovery{Store: store, Config: cfg}.Run(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		return nil
	})
}

// Background runs something until the returned function is called, or the test ends; it must then return nil soon.
func Background(t testing.TB, what string, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = run(ctx)
	}()
	stop = func() {
		t.Helper()
		cancel()
		select {
		case <-ended:
		case <-time.After(Patience):
			t.Errorf("the %s does not stop", what)
			return
		}
		if err != nil {
			t.Errorf("the %s ended with %v", what, err)
			err = nil
		}
	}
	t.Cleanup(stop)
	return stop
}
