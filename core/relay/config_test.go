package relay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/relay"
)

// provenBy names for each field of Config a test that fails when nothing reads it.
var provenBy = map[string]string{
	"Strategy":          "TestPollingNeedsNothing",
	"Waker":             "TestHints",
	"PollingInterval":   "TestPollingNeedsNothing",
	"BatchSize":         "TestLimits",
	"Concurrency":       "TestLimits",
	"Prefetch":          "TestLimits",
	"RunLength":         "TestLimits",
	"LeaseTimeout":      "TestRenewalFailsUntilTheEnd",
	"DeliveryTimeout":   "TestDeliveryTimeout",
	"DrainTimeout":      "TestDrainTimeout",
	"StoreTimeout":      "TestStoreTimeout",
	"BackoffBase":       "TestRetryTimes",
	"BackoffMax":        "TestRetryTimes",
	"UnresolvableDelay": "TestUnresolvableDelay",
	"ProbeDelay":        "TestOutage",
	"ProbeMax":          "TestOutage",
	"OnPublished":       "TestOnPublished",
	"Owner":             "TestOwner",
	"Propagation":       "TestPropagation",
	"Observers":         "TestObserversHarmNobody",
	"Logger":            "TestNullHeader",
}

// TestEveryFieldIsProven fails for a new field until a test is named for it.
func TestEveryFieldIsProven(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	fields := reflect.VisibleFields(reflect.TypeFor[relay.Config]())
	for _, f := range fields {
		if test := provenBy[f.Name]; test == "" || !strings.Contains(source.String(), "func "+test+"(t *testing.T)") {
			t.Errorf("no test shows what Config.%s does (%q)", f.Name, test)
		}
	}
	if len(fields) != len(provenBy) {
		t.Errorf("%d fields, %d in the table", len(fields), len(provenBy))
	}
}

// TestConfigBounds: the last good and the first bad value of every field.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	if err := (relay.Config{}).Validate(); err != nil {
		t.Errorf("the zero configuration: %v", err)
	}
	numbers := map[string]func(c *relay.Config, n int){
		"batchSize":   func(c *relay.Config, n int) { c.BatchSize, c.Concurrency, c.Prefetch = n, 1, 1 },
		"concurrency": func(c *relay.Config, n int) { c.Concurrency = n },
		"prefetch":    func(c *relay.Config, n int) { c.Prefetch = n },
		"runLength":   func(c *relay.Config, n int) { c.RunLength = n },
	}
	for field, set := range numbers {
		for n, good := range map[int]bool{1: true, relay.MaxBatchSize: true, -1: false, relay.MaxBatchSize + 1: false} {
			var c relay.Config
			set(&c, n)
			wantProblem(t, c, field, good)
		}
	}
	durations := map[string]struct {
		set      func(c *relay.Config, d time.Duration)
		shortest time.Duration
	}{
		"pollingInterval":   {func(c *relay.Config, d time.Duration) { c.PollingInterval = d }, time.Millisecond},
		"leaseTimeout":      {func(c *relay.Config, d time.Duration) { c.LeaseTimeout = d }, relay.MinLeaseTimeout},
		"deliveryTimeout":   {func(c *relay.Config, d time.Duration) { c.DeliveryTimeout = d }, time.Millisecond},
		"drainTimeout":      {func(c *relay.Config, d time.Duration) { c.DrainTimeout = d }, time.Millisecond},
		"storeTimeout":      {func(c *relay.Config, d time.Duration) { c.StoreTimeout = d }, time.Millisecond},
		"backoffBase":       {func(c *relay.Config, d time.Duration) { c.BackoffBase, c.BackoffMax = d, max(d, time.Hour) }, 1},
		"backoffMax":        {func(c *relay.Config, d time.Duration) { c.BackoffBase, c.BackoffMax = 1, d }, 1},
		"unresolvableDelay": {func(c *relay.Config, d time.Duration) { c.UnresolvableDelay = d }, time.Millisecond},
		"probeDelay":        {func(c *relay.Config, d time.Duration) { c.ProbeDelay, c.ProbeMax = d, max(d, time.Hour) }, time.Millisecond},
		"probeMax":          {func(c *relay.Config, d time.Duration) { c.ProbeDelay, c.ProbeMax = time.Millisecond, d }, time.Millisecond},
	}
	for field, f := range durations {
		for d, good := range map[time.Duration]bool{
			f.shortest: true, relay.MaxDuration: true, -1: false, relay.MaxDuration + 1: false,
		} {
			var c relay.Config
			f.set(&c, d)
			wantProblem(t, c, field, good)
		}
		if f.shortest > 1 {
			var c relay.Config
			f.set(&c, f.shortest-1)
			wantProblem(t, c, field, false)
		}
	}
	for _, c := range []struct {
		cfg   relay.Config
		field string
		good  bool
	}{
		{relay.Config{Strategy: relay.Polling}, "strategy", true},
		{relay.Config{Strategy: "LISTEN"}, "strategy", false},
		{relay.Config{OnPublished: relay.Archive}, "onPublished", true},
		{relay.Config{OnPublished: "KEPT"}, "onPublished", false},
		{relay.Config{Owner: strings.Repeat("ö", 255)}, "owner", true},
		{relay.Config{Owner: strings.Repeat("ö", 256)}, "owner", false},
		{relay.Config{Owner: " \t"}, "owner", false},
		{relay.Config{Owner: "a\x00"}, "owner", false},
		{relay.Config{Owner: "a\xff"}, "owner", false},
		{relay.Config{BackoffBase: time.Hour, BackoffMax: time.Minute}, "backoffMax", false},
		{relay.Config{BackoffBase: time.Minute, BackoffMax: time.Minute}, "backoffMax", true},
		{relay.Config{ProbeDelay: time.Hour, ProbeMax: time.Minute}, "probeMax", false},
		{relay.Config{ProbeDelay: time.Hour}, "probeMax", true},
		{relay.Config{BackoffBase: time.Hour}, "backoffMax", true},
		{relay.Config{Waker: (*waker)(nil)}, "waker", false},
		{relay.Config{Waker: &waker{}}, "waker", true},
		{relay.Config{Observers: []relay.Observer{watching, nil}}, "observers[1]", false},
		{relay.Config{Observers: []relay.Observer{relay.ObserverFunc(nil)}}, "observers[0]", false},
		{relay.Config{Observers: []relay.Observer{(*attempts)(nil)}}, "observers[0]", false},
		{relay.Config{Observers: []relay.Observer{watching}}, "observers", true},
	} {
		wantProblem(t, c.cfg, c.field, c.good)
	}
}

var watching = relay.ObserverFunc(func(context.Context, relay.Attempt) {})

// waker is a relay.Waker that has nothing to say.
type waker struct{ hints chan struct{} }

func (w *waker) Subscribe() (<-chan struct{}, func()) { return w.hints, func() {} }

// TestOneProblemIsOneError: what other fields take over from a bad one is not its own fault.
func TestOneProblemIsOneError(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]relay.Config{
		"satchel: relay batchSize is not between 1 and 10000":   {BatchSize: -1},
		"satchel: relay concurrency is not between 1 and 10000": {BatchSize: 5, Concurrency: 10_001},
		"satchel: relay backoffBase is longer than 366 days":    {BackoffBase: relay.MaxDuration + 1},
		"satchel: relay probeDelay is longer than 366 days":     {ProbeDelay: relay.MaxDuration + 1},
		"satchel: relay batchSize is not between 1 and 10000\nsatchel: relay prefetch is not between 1 and 10000": {
			BatchSize: relay.MaxBatchSize + 1, Prefetch: relay.MaxBatchSize + 1,
		},
	} {
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestOutcomeKindNames(t *testing.T) {
	t.Parallel()
	for kind, want := range map[relay.OutcomeKind]string{
		relay.Published: "published", relay.Retried: "retried", relay.DeadLettered: "dead-lettered", relay.Deferred: "deferred",
		relay.Released: "released", relay.ReleasedBehind: "released behind", 0: "unknown", -1: "unknown", 99: "unknown",
	} {
		if kind.String() != want {
			t.Errorf("kind %d is %q, want %q", int(kind), kind, want)
		}
	}
}

// wantProblem checks that a configuration is good, or refused for one field only.
func wantProblem(t *testing.T, c relay.Config, field string, good bool) {
	t.Helper()
	err := c.Validate()
	if good != (err == nil) {
		t.Errorf("%s: %v, want an error: %v", field, err, !good)
		return
	}
	if good {
		return
	}
	var invalid *fault.Invalid
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), field) {
		t.Errorf("%s is refused with %v", field, err)
	}
	if _, newErr := relay.New(memstore.New(memstore.Config{}), nil, c); newErr == nil {
		t.Errorf("New accepts what Validate refuses: %v", err)
	}
}

// TestAllProblemsAtOnce: of the store, the handlers and every field.
func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	h := handler(t, nil)
	_, err := relay.New(nil, []delivery.Handler{h, h, nil}, relay.Config{
		Strategy: "x", OnPublished: "y", Owner: " ", BatchSize: -1, Concurrency: -1, Prefetch: -1, RunLength: -1,
		PollingInterval: -1, LeaseTimeout: 1, DeliveryTimeout: -1, DrainTimeout: -1, StoreTimeout: -1,
		BackoffBase: -1, BackoffMax: -2, UnresolvableDelay: -1, ProbeDelay: -1, ProbeMax: -2,
	})
	for _, part := range []string{
		"store", "two handlers", "handler 2", "strategy", "onPublished", "owner", "batchSize", "concurrency", "prefetch", "runLength",
		"pollingInterval", "leaseTimeout", "deliveryTimeout", "drainTimeout", "storeTimeout", "backoffBase", "backoffMax is shorter than 1",
		"backoffMax is shorter than backoffBase", "unresolvableDelay", "probeDelay", "probeMax is shorter than 1ms", "probeMax is shorter than probeDelay",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
}

// TestOwner: the configured name is the one in the store; without one, every relay has
// its own.
func TestOwner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		got := make(chan string, 1)
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error { got <- rows(s)[e.ID].Owner; return nil })
		publish(t, s, entryOf(""))
		r := newRelay(t, s, relay.Config{Owner: "node-7"}, h)
		if _, err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if owner := <-got; owner != "node-7" || r.Owner() != "node-7" {
			t.Errorf("held by %q, the relay is %q", owner, r.Owner())
		}
		one, two := newRelay(t, s, relay.Config{}), newRelay(t, s, relay.Config{})
		if one.Owner() == two.Owner() || one.Owner() == "" || len(one.Owner()) > 255 {
			t.Errorf("default owners %q and %q", one.Owner(), two.Owner())
		}
	})
}

// TestScopeIsOfTheRightKind: New refuses a handler without a scope.
func TestScopeIsOfTheRightKind(t *testing.T) {
	t.Parallel()
	h := handler(t, nil)
	h.to = nil
	if _, err := relay.New(memstore.New(memstore.Config{}), []delivery.Handler{h}, relay.Config{}); !fault.IsInvalid(err) {
		t.Errorf("New returned %v", err)
	}
	h.to = claim.All()
	if _, err := relay.New(memstore.New(memstore.Config{}), []delivery.Handler{h}, relay.Config{}); err != nil {
		t.Error(err)
	}
}
