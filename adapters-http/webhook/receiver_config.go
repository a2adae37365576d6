package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// ReceiverConfig adjusts a [Receiver]. Secrets, Source, Processor, InTx and Work
// are required.
type ReceiverConfig[Tx any] struct {
	// Secrets are the keys of the sender; any of them may have signed. While one is
	// being replaced give the old and the new one.
	Secrets []Secret
	// Source is the inbox source: it names this consumer and where its messages come
	// from. Two senders need two sources, unless their message ids cannot collide.
	Source string
	// Processor keeps the markers of processed messages.
	Processor *inbox.Processor[Tx]
	// InTx runs fn in a new transaction: it commits when fn returns nil and rolls back
	// when fn returns an error, and returns fn's error or that of the commit. Nil must
	// mean that the commit succeeded.
	InTx func(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Work processes one message with its writes in tx. It may mark its error with
	// delivery.Permanent or delivery.RetryAfter to tell the sender.
	Work func(ctx context.Context, tx Tx, m Message) error

	// Tolerance is how far a timestamp may lie from this machine's clock; 0 means
	// DefaultTolerance, at most [MaxTolerance]. A request that is replayed within it is
	// recognised by the inbox, not here.
	Tolerance time.Duration
	// MaxBodyBytes is the largest body that is read; 0 means 1 MiB, at most
	// outbox.MaxPayloadBytes. A body is held in memory while it is processed.
	MaxBodyBytes int64
	// ReservedPrefix is the sender's Config.ReservedPrefix; empty means "satchel-".
	ReservedPrefix string
	// Propagation restores the sender's context into the context of Work; nil
	// restores nothing. Context is not signed.
	Propagation *propagation.Set
	// Logger is told what was refused and what failed; nil discards it.
	Logger *slog.Logger
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c ReceiverConfig[Tx]) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns a copy with the defaults filled in, or all problems joined.
func (c ReceiverConfig[Tx]) withDefaults() (ReceiverConfig[Tx], error) {
	var problems []error
	invalid := func(field, reason string) {
		problems = append(problems, fault.NewInvalid("webhook receiver: "+field, reason))
	}
	switch {
	case len(c.Secrets) == 0:
		invalid("secrets", "are missing")
	case len(c.Secrets) > MaxSecrets:
		invalid("secrets", "are more than 8")
	case slices.ContainsFunc(c.Secrets, Secret.IsZero):
		invalid("secrets", "hold an empty one")
	}
	if err := (inbox.Message{ID: "any", Source: c.Source}).Validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Processor == nil {
		invalid("inbox processor", "is missing")
	}
	if c.InTx == nil {
		invalid("transaction function", "is missing")
	}
	if c.Work == nil {
		invalid("work", "is missing")
	}
	if c.Tolerance < 0 || c.Tolerance > MaxTolerance {
		invalid("tolerance", "is negative or longer than an hour")
	}
	if c.MaxBodyBytes < 0 || c.MaxBodyBytes > outbox.MaxPayloadBytes {
		invalid("max body bytes", "is negative or larger than 64 MiB")
	}
	prefix, reason := reservedPrefix(c.ReservedPrefix)
	if reason != "" {
		invalid("reserved prefix", reason)
	}
	c.ReservedPrefix = prefix
	if c.MaxBodyBytes == 0 {
		c.MaxBodyBytes = DefaultMaxBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Secrets = slices.Clone(c.Secrets)
	return c, errors.Join(problems...)
}
