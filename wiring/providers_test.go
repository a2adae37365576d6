package wiring

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/scheduler"

	"github.com/satchel-go/satchel/adapters-service/service"
)

var discard = slog.New(slog.DiscardHandler)

// somewhere is never connected to.
const somewhere = "postgres://somebody:hunter2@127.0.0.1:1/nowhere"

func settingsWith(change func(*config.Tree)) Settings {
	tree := config.Default()
	change(&tree)
	return Settings{&tree}
}

// Only a valid tree becomes settings, and settings cannot be changed afterwards.
func TestSettings(t *testing.T) {
	t.Parallel()
	valid, broken := config.Default(), config.Default()
	valid.InboxOutbox.Relay.Instances = 7
	broken.InboxOutbox.Relay.Instances = -1
	for name, c := range map[string]struct {
		tree config.Tree
		want int
		ok   bool
	}{"valid": {valid, 7, true}, "broken": {broken, config.Default().InboxOutbox.Relay.Instances, false}} {
		s, err := NewSettings(c.tree)
		if (err == nil) != c.ok || err != nil && !fault.IsInvalid(err) || s.Tree().InboxOutbox.Relay.Instances != c.want {
			t.Errorf("%s: %v, %d instances", name, err, s.Tree().InboxOutbox.Relay.Instances)
		}
		tree := s.Tree()
		tree.InboxOutbox.Relay.Instances = 99
		if s.Tree().InboxOutbox.Relay.Instances != c.want {
			t.Errorf("%s: changed from outside", name)
		}
	}
	if err := new(Settings).Tree().Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

func TestPoolSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url       string
		instances int
		want      func(conns int32) bool
	}{
		{somewhere, 10, func(n int32) bool { return n == 55 }},
		{somewhere, 1, func(n int32) bool { return n >= 10 }},
		{somewhere + "?pool_max_conns=2", 10, func(n int32) bool { return n == 2 }},
	} {
		s := settingsWith(func(tree *config.Tree) { tree.InboxOutbox.Relay.Instances = c.instances })
		pool, cleanup, err := NewPool(s, Inputs{Database: Database{URL: Secret(c.url)}}, discard)
		if err != nil {
			t.Fatal(err)
		}
		if n := pool.Config().MaxConns; !c.want(n) {
			t.Errorf("%d instances: %d connections", c.instances, n)
		}
		cleanup()
	}
}

func TestDatabaseURLIsRefusedWithoutBeingShown(t *testing.T) {
	t.Parallel()
	for _, url := range []Secret{"", "postgres://somebody:hunter2@127.0.0.1:port/nowhere"} {
		_, _, err := NewPool(settingsWith(func(*config.Tree) {}), Inputs{Database: Database{URL: url}}, discard)
		var invalid *fault.Invalid
		if !errors.As(err, &invalid) || invalid.Field != "database URL" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

func TestListener(t *testing.T) {
	t.Parallel()
	polling := settingsWith(func(tree *config.Tree) { tree.InboxOutbox.Relay.Strategy = relay.Polling })
	listening := settingsWith(func(*config.Tree) {})
	l, err := NewListener(polling, Inputs{}, discard)
	if l != nil || err != nil || RelayConfig(polling, Inputs{}, l, discard).Waker != nil {
		t.Errorf("under POLLING: %v, %v", l, err)
	}
	for _, d := range []Database{{URL: somewhere}, {ListenURL: somewhere}} {
		l, err = NewListener(listening, Inputs{Database: d}, discard)
		if l == nil || err != nil || RelayConfig(listening, Inputs{}, l, discard).Waker == nil {
			t.Errorf("under LISTEN_NOTIFY: %v, %v", l, err)
		}
	}
	if _, err := NewListener(listening, Inputs{}, discard); !fault.IsInvalid(err) {
		t.Errorf("without a URL: %v", err)
	}
}

func TestRelaysShareANameAndDifferInANumber(t *testing.T) {
	t.Parallel()
	s := settingsWith(func(tree *config.Tree) { tree.InboxOutbox.Relay.Instances = 3 })
	relays, err := NewRelays(s, &postgres.Store{}, nil, RelayConfig(s, Inputs{}, nil, discard))
	if err != nil || len(relays) != 3 {
		t.Fatalf("%d relays, %v", len(relays), err)
	}
	process := strings.TrimSuffix(relays[0].Owner(), "-1")
	for i, r := range relays {
		if want := fmt.Sprintf("%s-%d", process, i+1); r.Owner() != want {
			t.Errorf("relay %d is %q, want %q", i+1, r.Owner(), want)
		}
	}
	if other := processName(); other == process {
		t.Errorf("two processes are called %q", other)
	}
}

// hand is a second handler for functions.
type hand struct{ *service.Handler }

func TestTwoHandlersOfOneTypeAreNamed(t *testing.T) {
	t.Parallel()
	h, err := service.NewHandler(service.NewRegistry(), service.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := settingsWith(func(*config.Tree) {})
	_, err = NewRelays(s, &postgres.Store{}, []delivery.Handler{h, hand{h}}, RelayConfig(s, Inputs{}, nil, discard))
	var invalid *fault.Invalid
	if !errors.As(err, &invalid) || invalid.Field != "destination type SERVICE" || invalid.Reason != "has two handlers: *service.Handler and wiring.hand" {
		t.Errorf("%v", err)
	}
}

func TestScheduler(t *testing.T) {
	t.Parallel()
	if cfg := SchedulerConfig(settingsWith(func(*config.Tree) {}), discard); cfg.ArchiveDaysAhead != 0 || cfg.Cleanup != scheduler.DefaultCleanup || cfg.Recovery != scheduler.DefaultRecovery {
		t.Errorf("by default %+v", cfg)
	}
	cfg := SchedulerConfig(settingsWith(func(tree *config.Tree) {
		tree.InboxOutbox.Relay.OnPublished = relay.Archive
		tree.InboxOutbox.Cleanup.CleanupBatchSize = 7
	}), discard)
	if cfg.ArchiveDaysAhead == 0 || cfg.Maintenance.BatchSize != 7 {
		t.Errorf("with an archive %+v", cfg)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reserved, own, want string
	}{
		{"", "", outbox.DefaultReservedPrefix},
		{"", outbox.DefaultReservedPrefix, outbox.DefaultReservedPrefix},
		{"acme-", "", "acme-"},
		{"acme-", "acme-", "acme-"},
		{"acme-", outbox.DefaultReservedPrefix, ""},
		{"", "acme-", ""},
	} {
		got, err := Inputs{ReservedPrefix: c.reserved}.AdapterPrefix("kafka reserved prefix", c.own)
		if got != c.want || (err == nil) != (c.want != "") || err != nil && !fault.IsInvalid(err) {
			t.Errorf("%q with %q of its own: %q, %v", c.reserved, c.own, got, err)
		}
	}
	if cfg := OutboxConfig(settingsWith(func(*config.Tree) {}), Inputs{ReservedPrefix: "acme-"}); cfg.ReservedPrefix != "acme-" || cfg.MaxAttempts != 20 {
		t.Errorf("%+v", cfg)
	}
}
