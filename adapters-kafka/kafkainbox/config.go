package kafkainbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// The defaults of [Config].
const (
	DefaultMaxAttempts  = 5
	DefaultMinBackoff   = 100 * time.Millisecond
	DefaultMaxBackoff   = 30 * time.Second
	DefaultCloseTimeout = 10 * time.Second
)

// Config describes a [Consumer]. Brokers, Group, Topics, Processor, InTx and Work
// are required. Tx is the type of the application's transaction.
type Config[Tx any] struct {
	// Connection says how to reach the cluster.
	kafka.Connection
	// Sarama is the configuration of the consumer group; nil means
	// [DefaultSaramaConfig]. It is copied.
	Sarama *sarama.Config
	// Group is the consumer group's id; 1 to 255 characters.
	Group string
	// Topics are the topics to consume; at least one.
	Topics []string

	// Processor keeps the markers of processed messages.
	Processor *inbox.Processor[Tx]
	// Source is the inbox.Message.Source of all records; empty means "group/topic".
	Source string
	// InTx runs fn in a new transaction: it commits when fn returns nil and rolls back
	// when fn returns an error or panics, and returns fn's error or that of the commit.
	InTx func(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Work does the application's writes for a message in tx. Its error decides what
	// becomes of the record, see the package documentation. ctx holds the sender's
	// propagation context and ends when the partition has to be given up.
	Work func(ctx context.Context, tx Tx, m kafka.Message) error

	// Names are the header names that the sender uses.
	Names kafka.HeaderNames
	// Propagation restores the sender's context; nil restores nothing.
	Propagation *propagation.Set

	// MaxAttempts is how often a record is tried before it counts as failed; 0 means 5.
	MaxAttempts int
	// MinBackoff and MaxBackoff bound the pause before the next try, which doubles from
	// the one to the other; 0 means 100 ms and 30 s.
	MinBackoff, MaxBackoff time.Duration
	// DeadLetterTopic returns the topic for the failed records of a topic. Nil means
	// that Run stops at the first failed record with a *RecordError.
	DeadLetterTopic func(topic string) string
	// CloseTimeout is how long Run may take, once it is to end, to commit offsets and
	// leave the group before its connections are cut; 0 means 10 s.
	CloseTimeout time.Duration
	// Logger receives warnings: failed tries, dead letters, errors of the cluster. Nil
	// discards them. No payload and no header is logged.
	Logger *slog.Logger
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c Config[Tx]) Validate() error {
	problems := []error{c.Connection.Validate(), c.Names.Validate()}
	for _, rule := range []struct {
		bad           bool
		field, reason string
	}{
		{c.Group == "", "kafka group", "is empty"},
		{len(c.Topics) == 0, "kafka topics", "are empty"},
		{slices.Contains(c.Topics, ""), "kafka topics", "contain an empty name"},
		{c.Processor == nil, "inbox processor", "is nil"},
		{c.InTx == nil, "InTx", "is nil"},
		{c.Work == nil, "Work", "is nil"},
		{c.MaxAttempts < 0, "max attempts", "is negative"},
		{c.MinBackoff < 0, "min backoff", "is negative"},
		{c.MaxBackoff < 0, "max backoff", "is negative"},
		{c.CloseTimeout < 0, "close timeout", "is negative"},
	} {
		if rule.bad {
			problems = append(problems, fault.NewInvalid(rule.field, rule.reason))
		}
	}
	for _, topic := range c.Topics {
		if err := (inbox.Message{ID: "any", Source: c.source(topic)}).Validate(); err != nil {
			problems = append(problems, fmt.Errorf("group and topic: %w", err))
		}
	}
	return errors.Join(append(problems, consumerProblems(c.consumerConfig())...)...)
}

// source names who consumes what, for the inbox.
func (c Config[Tx]) source(topic string) string {
	if c.Source != "" {
		return c.Source
	}
	return c.Group + "/" + topic
}

// consumerConfig returns the configuration in effect, a copy.
func (c Config[Tx]) consumerConfig() *sarama.Config {
	base := c.Sarama
	if base == nil {
		base = DefaultSaramaConfig()
	}
	return c.Apply(base)
}

// withDefaults fills what was left at zero.
func (c Config[Tx]) withDefaults() Config[Tx] {
	if c.MaxAttempts == 0 {
		c.MaxAttempts = DefaultMaxAttempts
	}
	if c.MinBackoff == 0 {
		c.MinBackoff = DefaultMinBackoff
	}
	if c.MaxBackoff == 0 {
		c.MaxBackoff = max(DefaultMaxBackoff, c.MinBackoff)
	}
	if c.CloseTimeout == 0 {
		c.CloseTimeout = DefaultCloseTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
