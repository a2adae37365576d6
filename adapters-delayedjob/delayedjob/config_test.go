package delayedjob

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestNewHandlerRefuses(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"no client":          {func(c *Config) { c.Client = nil }, "redis client is nil"},
		"no registry":        {func(c *Config) { c.Registry = nil }, "job registry is nil"},
		"blank namespace":    {func(c *Config) { c.Namespace = "  " }, "namespace is empty"},
		"control namespace":  {func(c *Config) { c.Namespace = "a\n" }, "namespace has a control"},
		"long namespace":     {func(c *Config) { c.Namespace = strings.Repeat("n", 129) }, "namespace is too long"},
		"malformed prefix":   {func(c *Config) { c.ReservedPrefix = "a\xff" }, "reserved prefix is not valid"},
		"prefix with space":  {func(c *Config) { c.ReservedPrefix = "a " }, "reserved prefix has a space"},
		"bad bands":          {func(c *Config) { c.Bands = Bands{} }, "bands are empty"},
		"negative timeout":   {func(c *Config) { c.Timeout = -1 }, "timeout is negative"},
		"long timeout":       {func(c *Config) { c.Timeout = MaxDuration + 1 }, "timeout is negative or longer than 366 days"},
		"negative retention": {func(c *Config) { c.Retention = -1 }, "retention is not between"},
		"short retention":    {func(c *Config) { c.Retention = MinRetention - 1 }, "retention is not between"},
		"long retention":     {func(c *Config) { c.Retention = MaxDuration + 1 }, "retention is not between"},
		"colon in prefix":    {func(c *Config) { c.ReservedPrefix = "a:" }, "reserved prefix has a space or a colon"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Client: s.client, Registry: &Registry{}}
			c.change(&cfg)
			_, err := NewHandler(cfg)
			if !fault.IsInvalid(err) {
				t.Errorf("error is %T, want *fault.Invalid", err)
			}
			wantText(t, err, c.text)
			wantText(t, cfg.Validate(), c.text)
		})
	}
	_, err := NewHandler(Config{})
	wantText(t, err, "redis client", "job registry")
}

func TestConfigBounds(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	for _, cfg := range []Config{
		{Timeout: 1, Retention: MinRetention},
		{Timeout: MaxDuration, Retention: MaxDuration},
	} {
		cfg.Client, cfg.Registry = s.client, &Registry{}
		if err := cfg.Validate(); err != nil {
			t.Errorf("timeout %v, retention %v: %v", cfg.Timeout, cfg.Retention, err)
		}
	}
}

func TestMuxConfig(t *testing.T) {
	t.Parallel()
	for prefix, refused := range map[string]string{
		"": "", "satchel-": "", "x_": "", "a b": "has a space", "a:": "has a space or a colon", "a\n": "has a control", "a\xff": "is not valid",
	} {
		cfg := MuxConfig{ReservedPrefix: prefix}
		m, err := NewMux(cfg)
		if (err != nil) != (refused != "") || (m == nil) != (err != nil) || (cfg.Validate() == nil) != (err == nil) {
			t.Errorf("prefix %q: mux %v, error %v, Validate %v", prefix, m, err, cfg.Validate())
		}
		if refused != "" {
			wantText(t, err, refused)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	cfg, err := Config{Client: s.client, Registry: &Registry{}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Timeout != 30*time.Minute || cfg.Retention != 24*time.Hour || cfg.ReservedPrefix != "satchel-" || len(cfg.Bands) != 3 {
		t.Errorf("defaults are %+v", cfg)
	}
}

// What asynq cuts to zero would mean no timeout, or no retention, at all.
func TestWholeSecondsRoundsUp(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]time.Duration{
		1: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second,
		time.Hour: time.Hour, MaxDuration: MaxDuration,
	} {
		if got := wholeSeconds(in); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	got := FailFast(redis.Options{Addr: "a:1", ReadTimeout: time.Minute})
	if got.MaxRetries != -1 || got.DialerRetries != 1 || !got.ContextTimeoutEnabled || got.DialTimeout != DefaultDialTimeout {
		t.Errorf("options are %+v", &got)
	}
	if got.Addr != "a:1" || got.ReadTimeout != time.Minute {
		t.Error("an option that was given is lost")
	}
	if kept := FailFast(redis.Options{DialTimeout: time.Hour}); kept.DialTimeout != time.Hour {
		t.Errorf("dial timeout is %v, want what was given", kept.DialTimeout)
	}
}

func TestTaskIDAndFingerprint(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	id := outbox.NewMessageID()
	plain := s.handler(t, nil)
	named := s.handler(t, func(c *Config) { c.Namespace, c.Fingerprint = "billing", "redis-7" })
	if got := plain.TaskID(id); got != id.String() {
		t.Errorf("task id is %q", got)
	}
	if got := named.TaskID(id); got != "billing:"+id.String() {
		t.Errorf("task id is %q", got)
	}
	if got := named.Fingerprint(t.Context(), "any"); got != "redis-7" {
		t.Errorf("fingerprint is %q", got)
	}
	if got := plain.Fingerprint(t.Context(), "any"); got != "" {
		t.Errorf("fingerprint is %q, want none", got)
	}
}
