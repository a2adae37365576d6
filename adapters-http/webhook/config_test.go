package webhook

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
)

// checkProblems compares a joined error with the parts that its problems must hold.
func checkProblems(t *testing.T, err error, want []string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	if !fault.IsInvalid(err) {
		t.Fatalf("got %v, want an Invalid", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%v", len(lines), len(want), err)
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("problem %d: got %q, want %q in it", i, lines[i], want[i])
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	source := new(Registry)
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"defaults": {Config{Source: source}, nil},
		"bounds":   {Config{Source: source, Timeout: MaxTimeout, MaxPayloadBytes: outbox.MaxPayloadBytes, ReservedPrefix: "X-Acme-"}, nil},
		"nothing":  {Config{}, []string{"source"}},
		"everything wrong": {
			Config{
				UserAgent: "a\r\nb", ReservedPrefix: "a b", Timeout: -1, MaxPayloadBytes: -1,
				TLS: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it is what has to be refused
			},
			[]string{"source", "user agent", "reserved prefix", "timeout", "max payload", "tls"},
		},
		"too large":          {Config{Source: source, Timeout: MaxTimeout + 1, MaxPayloadBytes: outbox.MaxPayloadBytes + 1}, []string{"timeout", "max payload"}},
		"prefix overlaps":    {Config{Source: source, ReservedPrefix: "Webhook-X-"}, []string{"reserved prefix"}},
		"prefix swallows":    {Config{Source: source, ReservedPrefix: "web"}, []string{"reserved prefix"}},
		"prefix is no token": {Config{Source: source, ReservedPrefix: "x:"}, []string{"reserved prefix"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkProblems(t, c.cfg.Validate(), c.want)
			h, err := NewHandler(c.cfg)
			checkProblems(t, err, c.want)
			if (h == nil) != (err != nil) {
				t.Fatal("handler and error do not exclude each other")
			}
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	got, err := Config{Source: new(Registry)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if got.UserAgent != "satchel-webhook/1" || got.ReservedPrefix != "satchel-" ||
		got.Timeout != 15*time.Second || got.MaxPayloadBytes != 1<<20 {
		t.Fatalf("got %q %q %v %d", got.UserAgent, got.ReservedPrefix, got.Timeout, got.MaxPayloadBytes)
	}
}

func TestReceiverConfig(t *testing.T) {
	t.Parallel()
	full := ReceiverConfig[int]{
		Secrets: []Secret{NewSecret()}, Source: "billing", Processor: inbox.NewProcessor[int](nil),
		InTx: func(context.Context, func(context.Context, int) error) error { return nil },
		Work: func(context.Context, int, Message) error { return nil },
	}
	for name, c := range map[string]struct {
		change func(*ReceiverConfig[int])
		want   []string
	}{
		"full":     {func(*ReceiverConfig[int]) {}, nil},
		"nothing":  {func(c *ReceiverConfig[int]) { *c = ReceiverConfig[int]{} }, []string{"secrets", "source", "inbox processor", "transaction", "work"}},
		"secrets":  {func(c *ReceiverConfig[int]) { c.Secrets = make([]Secret, MaxSecrets+1) }, []string{"more than 8"}},
		"zero":     {func(c *ReceiverConfig[int]) { c.Secrets = []Secret{{}} }, []string{"empty one"}},
		"negative": {func(c *ReceiverConfig[int]) { c.Tolerance, c.MaxBodyBytes = -1, -1 }, []string{"tolerance", "max body"}},
		"bounds":   {func(c *ReceiverConfig[int]) { c.Tolerance, c.MaxBodyBytes = MaxTolerance, outbox.MaxPayloadBytes }, nil},
		"too large": {func(c *ReceiverConfig[int]) {
			c.Tolerance, c.MaxBodyBytes = MaxTolerance+1, outbox.MaxPayloadBytes+1
		}, []string{"tolerance", "max body"}},
		"prefix": {func(c *ReceiverConfig[int]) { c.ReservedPrefix = "webhook-" }, []string{"reserved prefix"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := full
			c.change(&cfg)
			checkProblems(t, cfg.Validate(), c.want)
			r, err := NewReceiver(cfg)
			checkProblems(t, err, c.want)
			if (r == nil) != (err != nil) {
				t.Fatal("receiver and error do not exclude each other")
			}
		})
	}
}
