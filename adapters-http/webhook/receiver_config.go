package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// ReceiverConfig adjusts a [Receiver]. Secrets, Source, Inbox, RunInTx and Work are
// required.
type ReceiverConfig[Tx any] struct {
	// Secrets are the keys of the sender; any of them may have signed. While one is
	// being replaced give the old and the new one.
	Secrets []Secret
	// Source is the inbox source: it names this consumer and where its messages come
	// from. Two senders need two sources, unless their message ids cannot collide.
	Source string
	// Inbox records the messages.
	Inbox *inbox.Processor[Tx]
	// RunInTx calls do in a new transaction, commits if it returned nil, and rolls back
	// and returns its error otherwise. Nil must mean that the commit succeeded.
	RunInTx func(ctx context.Context, do func(ctx context.Context, tx Tx) error) error
	// Work processes one message with its writes in tx. It may mark its error with
	// delivery.Permanent or delivery.RetryAfter to tell the sender.
	Work func(ctx context.Context, tx Tx, m Message) error

	// Tolerance is how far a timestamp may lie from this machine's clock; 0 means
	// DefaultTolerance.
	Tolerance time.Duration
	// MaxBodyBytes is the largest body that is read; 0 means 1 MiB.
	MaxBodyBytes int64
	// HeaderPrefix is the sender's Config.HeaderPrefix; empty means "satchel-".
	HeaderPrefix string
	// Propagation restores the sender's context into the context of Work; nil
	// restores nothing. Context is not signed.
	Propagation *propagation.Set
	// Logger is told what was refused and what failed; nil discards it.
	Logger *slog.Logger
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
	if c.Inbox == nil {
		invalid("inbox", "is missing")
	}
	if c.RunInTx == nil {
		invalid("transaction function", "is missing")
	}
	if c.Work == nil {
		invalid("work", "is missing")
	}
	if c.Tolerance < 0 {
		invalid("tolerance", "is negative")
	}
	if c.MaxBodyBytes < 0 {
		invalid("max body bytes", "is negative")
	}
	prefix, reason := headerPrefix(c.HeaderPrefix)
	if reason != "" {
		invalid("header prefix", reason)
	}
	c.HeaderPrefix = prefix
	if c.MaxBodyBytes == 0 {
		c.MaxBodyBytes = DefaultMaxBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Secrets = slices.Clone(c.Secrets)
	return c, errors.Join(problems...)
}
