package kafka_test

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/fault"
)

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	sasl := kafka.SASL{Mechanism: kafka.ScramSHA256, User: "app", Password: "hunter2"}
	for _, c := range []struct {
		name   string
		change func(*kafka.Config)
		want   []string // the fields, in order
	}{
		{"valid", func(*kafka.Config) {}, nil},
		{"no brokers", func(c *kafka.Config) { c.Brokers = nil }, []string{"kafka brokers"}},
		{
			"addresses", func(c *kafka.Config) { c.Brokers = []string{"h:1", "hunter2", ":9092", "h:x", "h:70000"} },
			[]string{"kafka broker 1", "kafka broker 2", "kafka broker 3", "kafka broker 4"},
		},
		{"acks", func(c *kafka.Config) { c.Sarama.Producer.RequiredAcks = sarama.WaitForLocal }, []string{"sarama Producer.RequiredAcks"}},
		{"idempotent", func(c *kafka.Config) { c.Sarama.Producer.Idempotent = false }, []string{"sarama Producer.Idempotent"}},
		{"in flight", func(c *kafka.Config) { c.Sarama.Net.MaxOpenRequests = 5 }, []string{"sarama Net.MaxOpenRequests"}},
		{"successes", func(c *kafka.Config) { c.Sarama.Producer.Return.Successes = false }, []string{"sarama Producer.Return.Successes"}},
		{"errors", func(c *kafka.Config) { c.Sarama.Producer.Return.Errors = false }, []string{"sarama Producer.Return.Errors"}},
		{"transactional", func(c *kafka.Config) { c.Sarama.Producer.Transaction.ID = "t" }, []string{"sarama Producer.Transaction.ID"}},
		{"flush", func(c *kafka.Config) { c.Sarama.Producer.Flush.Messages = 10 }, []string{"sarama Producer.Flush.Frequency"}},
		{"flush with time", func(c *kafka.Config) {
			c.Sarama.Producer.Flush.Messages, c.Sarama.Producer.Flush.Frequency = 10, time.Millisecond
		}, nil},
		{
			"sarama's own default", func(c *kafka.Config) { c.Sarama = sarama.NewConfig() },
			[]string{"sarama Producer.RequiredAcks", "sarama Producer.Idempotent", "sarama Net.MaxOpenRequests", "sarama Producer.Return.Successes"},
		},
		{"refused by sarama", func(c *kafka.Config) { c.Sarama.Producer.Partitioner = nil }, []string{"sarama configuration"}},
		{"old version", func(c *kafka.Config) { c.Sarama.Version = sarama.V0_10_0_0 }, []string{"sarama configuration"}},
		{"SASL", func(c *kafka.Config) { c.SASL = sasl }, nil},
		{
			"SASL mechanism", func(c *kafka.Config) { c.SASL = kafka.SASL{Mechanism: "GSSAPI"} },
			[]string{"kafka SASL mechanism", "kafka SASL user", "kafka SASL password"},
		},
		{"SASL without mechanism", func(c *kafka.Config) { c.SASL = kafka.SASL{Password: "hunter2"} }, []string{"kafka SASL mechanism"}},
		{"SASL twice", func(c *kafka.Config) { c.SASL, c.Sarama.Net.SASL.Enable = sasl, true }, []string{"kafka SASL"}},
		{"TLS twice", func(c *kafka.Config) { c.TLS, c.Sarama.Net.TLS.Enable = &tls.Config{}, true }, []string{"kafka TLS"}},
		{"header names", func(c *kafka.Config) { c.Names.EventType = kafka.DefaultMessageIDHeader }, []string{"kafka header names"}},
		{"header of W3C", func(c *kafka.Config) { c.Names.MessageID = "baggage" }, []string{"kafka header names"}},
		{"header in the prefix", func(c *kafka.Config) { c.Names.MessageID = "satchel-id" }, []string{"kafka header names"}},
		{"several", func(c *kafka.Config) { c.Brokers, c.Sarama.Producer.Idempotent = nil, false }, []string{"kafka brokers", "sarama Producer.Idempotent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := kafka.Config{Connection: kafka.Connection{Brokers: []string{"h:1"}}, Sarama: kafka.DefaultSaramaConfig()}
			c.change(&cfg)
			_, err := kafka.NewHandler(cfg)
			if got := fields(err); !slices.Equal(got, c.want) {
				t.Errorf("problems with %q, want %q: %v", got, c.want, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a value: %v", err)
			}
		})
	}
}

// fields lists the fields of joined *fault.Invalid errors.
func fields(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var names []string
	for _, problem := range joined.Unwrap() {
		var invalid *fault.Invalid
		if errors.As(problem, &invalid) {
			names = append(names, invalid.Field)
		}
	}
	return names
}

// The user's configuration is not changed, and its partitioner is used.
func TestSaramaConfigIsCopied(t *testing.T) {
	t.Parallel()
	cfg := kafka.Config{
		Connection: kafka.Connection{Brokers: []string{"h:1"}, ClientID: "billing", SASL: kafka.SASL{Mechanism: kafka.Plain, User: "u", Password: "p"}, TLS: &tls.Config{}},
		Sarama:     kafka.DefaultSaramaConfig(),
	}
	if _, err := kafka.NewHandler(cfg); err != nil {
		t.Fatal(err)
	}
	s := cfg.Sarama
	if s.ClientID != kafka.DefaultClientID || s.Net.SASL.Enable || s.Net.TLS.Enable || s.Net.Proxy.Enable || s.Producer.Flush.MaxMessages != 0 {
		t.Error("the given configuration was changed")
	}
	if got := cfg.Apply(s); got.ClientID != "billing" || !got.Net.SASL.Enable || !got.Net.TLS.Enable {
		t.Errorf("the connection is not applied")
	}
}
