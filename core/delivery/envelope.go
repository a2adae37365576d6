package delivery

import (
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// Envelope is one delivery attempt as a handler sees it. Its slices and maps belong
// to the relay: a handler must not change them, nor keep them after it returned.
type Envelope struct {
	// ID is the entry's number.
	ID outbox.ID
	// MessageID is the id to send along: the same on every attempt.
	MessageID outbox.MessageID
	// DestinationType is the type that the handler serves.
	DestinationType destination.Type
	// Destination is the name inside the type: a topic, an operation, a job.
	Destination string
	// EventType says what happened.
	EventType string
	// AggregateType describes AggregateID; empty when there is none.
	AggregateType string
	// AggregateID is what the entry is ordered by; empty when it is not.
	AggregateID string
	// Payload is the stored JSON document, or raw bytes when ContentType is not
	// outbox.JSONContentType. The bytes are the same on every attempt.
	Payload []byte
	// ContentType is never empty: outbox.JSONContentType, or that of the raw payload.
	ContentType string
	// Headers are the application's own, nil when there are none.
	Headers map[string]string
	// Metadata holds the propagation context and the control data.
	Metadata outbox.Metadata
	// ScheduledAt is zero for an entry that was not scheduled.
	ScheduledAt time.Time
	// CreatedAt is when the entry was inserted, by the store's clock.
	CreatedAt time.Time
	// Attempt numbers this attempt: 1 for the first that is charged.
	Attempt int
	// MaxAttempts is the attempt that is the last: a retryable failure of it dead-letters.
	MaxAttempts int
}

// Fingerprint returns the fingerprint of the destination that the entry was meant
// for, or "" if none was stored.
func (e *Envelope) Fingerprint() string {
	var mark string
	if doc, ok := e.Metadata.Delivery[outbox.FingerprintKey]; ok {
		_ = json.Unmarshal(doc, &mark) // a malformed mark is no mark
	}
	return mark
}

// EnvelopeOf projects a claimed record. A header that is stored as JSON null, by a
// writer other than this library, is left out and its key returned in dropped. An
// error, a *fault.Invalid, means that the row holds a document that no version of
// this library writes.
func EnvelopeOf(r *outbox.Record) (e Envelope, dropped []string, err error) {
	e = Envelope{
		ID: r.ID, MessageID: r.MessageID,
		DestinationType: r.DestinationType, Destination: r.Destination,
		EventType: r.EventType, AggregateType: r.AggregateType, AggregateID: r.AggregateID,
		Payload: r.Payload, ContentType: r.ContentType,
		ScheduledAt: r.ScheduledAt, CreatedAt: r.CreatedAt,
		Attempt: r.Attempt + 1, MaxAttempts: r.MaxAttempts,
	}
	if e.ContentType == "" {
		e.ContentType = outbox.JSONContentType
	}
	if e.Metadata, err = outbox.DecodeMetadata(r.Metadata); err != nil {
		return e, nil, err
	}
	e.Headers, dropped, err = outbox.DecodeHeaders(r.Headers)
	return e, dropped, err
}
