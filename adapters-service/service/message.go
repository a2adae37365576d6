package service

import (
	"context"
	"maps"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

// Message is what a handler can know about the entry beside its payload.
type Message struct {
	// ID is the same on every attempt: the id to give to an inbox.
	ID outbox.MessageID
	// Operation is the id of the operation that handles the entry.
	Operation string
	// Target is the id that the entry carries: Operation, or an alias of it.
	Target string
	// EventType says what happened; unless the operation sets another it is its id.
	EventType string
	// AggregateType describes AggregateID; both are empty for an entry without an order.
	AggregateType string
	// AggregateID is what orders the entry, see WithAggregate.
	AggregateID string
	// Headers are the application's own; nil when there are none.
	Headers map[string]string
	// Attempt numbers this attempt, 1 for the first that is charged.
	Attempt int
	// MaxAttempts is the attempt after which the entry is dead-lettered.
	MaxAttempts int
	// CreatedAt is when the entry was written, by the database's clock.
	CreatedAt time.Time
	// ScheduledAt is zero for an entry that was not scheduled.
	ScheduledAt time.Time
}

type messageKey struct{}

// MessageFrom returns the message that ctx was made for; ok is false outside of a
// handler. Each handler gets a message of its own, headers included.
func MessageFrom(ctx context.Context) (m Message, ok bool) {
	m, ok = ctx.Value(messageKey{}).(Message)
	return m, ok
}

func messageOf(operation string, e *delivery.Envelope) Message {
	return Message{
		ID: e.MessageID, Operation: operation, Target: e.Destination, EventType: e.EventType,
		AggregateType: e.AggregateType, AggregateID: e.AggregateID,
		Headers: maps.Clone(e.Headers), // the envelope's belong to the relay
		Attempt: e.Attempt, MaxAttempts: e.MaxAttempts,
		CreatedAt: e.CreatedAt, ScheduledAt: e.ScheduledAt,
	}
}
