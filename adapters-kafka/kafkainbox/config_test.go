package kafkainbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*config)
		want   []string // the fields, in order
	}{
		{"valid", func(*config) {}, nil},
		{"default sarama", func(c *config) { c.Sarama = nil }, nil},
		{"empty", func(c *config) { *c = config{} }, []string{
			"kafka brokers", "kafka group", "kafka topics", "inbox processor", "InTx", "Work",
		}},
		{"topic", func(c *config) { c.Topics = []string{"orders", ""} }, []string{"kafka topics"}},
		{
			"negative", func(c *config) { c.MaxAttempts, c.MinBackoff, c.MaxBackoff, c.CloseTimeout = -1, -1, -1, -1 },
			[]string{"max attempts", "min backoff", "max backoff", "close timeout"},
		},
		{"at the bounds", func(c *config) {
			c.MaxAttempts, c.MinBackoff, c.MaxBackoff, c.CloseTimeout = outbox.MaxMaxAttempts, kafkainbox.MaxPause, kafkainbox.MaxPause, kafkainbox.MaxCloseTimeout
			c.Group, c.Source = strings.Repeat("ä", 255), "billing"
		}, nil},
		{
			"beyond the bounds", func(c *config) {
				c.MinBackoff, c.MaxBackoff, c.CloseTimeout = kafkainbox.MaxPause+1, kafkainbox.MaxPause+1, kafkainbox.MaxCloseTimeout+1
			},
			[]string{"min backoff", "max backoff", "close timeout"},
		},
		{"backoff upside down", func(c *config) { c.MinBackoff, c.MaxBackoff = time.Second, time.Second-1 }, []string{"max backoff"}},
		{"backoff above the default longest", func(c *config) { c.MinBackoff = kafkainbox.DefaultMaxBackoff + 1 }, nil},
		{"longest backoff below the default shortest", func(c *config) { c.MaxBackoff = kafkainbox.DefaultMinBackoff - 1 }, []string{"max backoff"}},
		{"blank group", func(c *config) { c.Group = " " }, []string{"kafka group"}},
		{"group too long", func(c *config) { c.Group, c.Source = strings.Repeat("g", 256), "billing" }, []string{"kafka group"}},
		{"source too long", func(c *config) { c.Source = strings.Repeat("s", 256) }, []string{"inbox source"}},
		{"default source too long", func(c *config) { c.Group = strings.Repeat("g", 250) }, []string{"inbox source"}},
		{"header names", func(c *config) { c.Names.EventType = kafka.DefaultMessageIDHeader }, []string{"kafka header names"}},
		{"SASL", func(c *config) { c.SASL.Mechanism = kafka.Plain }, []string{"kafka SASL user", "kafka SASL password", "sarama configuration"}},
		{"no offsets", func(c *config) { c.Sarama.Consumer.Offsets.AutoCommit.Enable = false }, []string{"sarama Consumer.Offsets.AutoCommit.Enable"}},
		{"cooperative", func(c *config) {
			c.Sarama.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
		}, []string{"sarama Consumer.Group.Rebalance.GroupStrategies"}},
		{"refused by sarama", func(c *config) { c.Sarama.Consumer.Fetch.Min = 0 }, []string{"sarama configuration"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New(memstore.Config{})
			cfg := config{
				Connection: kafka.Connection{Brokers: []string{"h:1"}}, Sarama: kafkainbox.DefaultSaramaConfig(),
				Group: "billing", Topics: []string{"orders"}, Processor: memstore.NewProcessor(store),
				InTx: func(context.Context, func(context.Context, *memstore.Tx) error) error { return nil },
				Work: func(context.Context, *memstore.Tx, kafka.Message) error { return nil },
			}
			c.change(&cfg)
			_, err := kafkainbox.New(cfg)
			if got := fields(err); !slices.Equal(got, c.want) {
				t.Errorf("problems with %q, want %q: %v", got, c.want, err)
			}
		})
	}
}

// fields lists the fields of the *fault.Invalid errors in a tree of joined errors.
func fields(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var names []string
		for _, problem := range joined.Unwrap() {
			names = append(names, fields(problem)...)
		}
		return names
	}
	var invalid *fault.Invalid
	if errors.As(err, &invalid) {
		return []string{invalid.Field}
	}
	return nil
}
