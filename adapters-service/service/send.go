package service

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
)

// SendOption adjusts one entry, or all entries of a [SendAll].
type SendOption func(*outbox.Entry)

// ScheduledAt keeps the entry back until the given time. Until then it also holds back
// younger entries of its aggregate. The zero time means at once.
func ScheduledAt(at time.Time) SendOption {
	return func(e *outbox.Entry) { e.ScheduledAt = at }
}

// WithHeaders gives the entry application headers; the handler reads them with
// [MessageFrom].
func WithHeaders(headers map[string]string) SendOption {
	return func(e *outbox.Entry) { e.Headers = headers }
}

// WithMaxAttempts sets after how many attempts the entry is dead-lettered; 0 means the
// publisher's default.
func WithMaxAttempts(attempts int) SendOption {
	return func(e *outbox.Entry) { e.MaxAttempts = attempts }
}

// Send stores an entry for op in the caller's transaction: op is called if and only if
// that transaction commits. The errors are those of outbox.Publisher.Publish.
func Send[Tx, P any](ctx context.Context, publisher *outbox.Publisher[Tx], tx Tx, op Operation[P], payload P, opts ...SendOption) (outbox.ID, error) {
	return publisher.Publish(ctx, tx, op.Entry(payload, opts...))
}

// SendAll is [Send] for several payloads in one statement, all or none. The ids come
// back in the order of the payloads, which is also the order in which entries of one
// aggregate are handled.
func SendAll[Tx, P any](ctx context.Context, publisher *outbox.Publisher[Tx], tx Tx, op Operation[P], payloads []P, opts ...SendOption) ([]outbox.ID, error) {
	entries := make([]outbox.Entry, len(payloads))
	for i, payload := range payloads {
		entries[i] = op.Entry(payload, opts...)
	}
	return publisher.PublishAll(ctx, tx, entries...)
}
