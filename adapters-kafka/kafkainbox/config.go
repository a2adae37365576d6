package kafkainbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// The defaults of [Config].
const (
	DefaultMaxAttempts  = 5                      // tries of a record, the first included
	DefaultMinBackoff   = 100 * time.Millisecond // pause after the first try
	DefaultMaxBackoff   = 30 * time.Second       // longest pause
	DefaultCloseTimeout = 10 * time.Second       // to leave the group
)

// The bounds of [Config].
const (
	// MaxPause is the longest pause before the next try, also when an error asks for a
	// longer one by delivery.RetryAfter: the partition stands still meanwhile.
	MaxPause = time.Hour
	// MaxCloseTimeout is the longest CloseTimeout.
	MaxCloseTimeout = 10 * time.Minute
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
	// Source is the inbox.Message.Source of all records; empty means "group/topic". 1
	// to 255 characters in either case.
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

	// MaxAttempts is how often a record is tried before it counts as failed; 0 means 5,
	// at most outbox.MaxMaxAttempts.
	MaxAttempts int
	// MinBackoff and MaxBackoff bound the pause before the next try, which doubles from
	// the one to the other; 0 means 100 ms and 30 s, or MinBackoff if that is longer. At
	// most [MaxPause]; MaxBackoff not shorter than MinBackoff.
	MinBackoff, MaxBackoff time.Duration
	// DeadLetterTopic returns the topic for the failed records of a topic. Nil means
	// that Run stops at the first failed record with a *RecordError.
	DeadLetterTopic func(topic string) string
	// CloseTimeout is how long Run may take, once it is to end, to commit offsets and
	// leave the group before its connections are cut; 0 means 10 s, at most
	// [MaxCloseTimeout].
	CloseTimeout time.Duration
	// Logger receives warnings: failed tries, dead letters, errors of the cluster. Nil
	// discards them. No payload and no header is logged.
	Logger *slog.Logger
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c Config[Tx]) Validate() error {
	problems := []error{c.Connection.Validate(), c.Names.Validate()}
	effective := c.withDefaults()
	for _, rule := range []struct {
		bad           bool
		field, reason string
	}{
		{strings.TrimSpace(c.Group) == "", "kafka group", "is blank"},
		{utf8.RuneCountInString(c.Group) > inbox.MaxLength, "kafka group", "is longer than 255 characters"},
		{len(c.Topics) == 0, "kafka topics", "are empty"},
		{slices.Contains(c.Topics, ""), "kafka topics", "contain an empty name"},
		{c.Processor == nil, "inbox processor", "is nil"},
		{c.InTx == nil, "InTx", "is nil"},
		{c.Work == nil, "Work", "is nil"},
		{c.MaxAttempts < 0 || c.MaxAttempts > outbox.MaxMaxAttempts, "max attempts", "is negative or larger than 2147483647"},
		{c.MinBackoff < 0 || c.MinBackoff > MaxPause, "min backoff", "is negative or longer than an hour"},
		{c.MaxBackoff < 0 || c.MaxBackoff > MaxPause, "max backoff", "is negative or longer than an hour"},
		{effective.MaxBackoff >= 0 && effective.MaxBackoff < effective.MinBackoff, "max backoff", "is shorter than min backoff"},
		{c.CloseTimeout < 0 || c.CloseTimeout > MaxCloseTimeout, "close timeout", "is negative or longer than 10 minutes"},
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
