package outbox

import (
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/destination"
)

// Record is an entry as a store holds it. A [Writer] receives it with the fields up
// to ScheduledAt set; a claim returns it with all of them.
type Record struct {
	// ID is the number of the entry, given by the store at the insert.
	ID ID
	// MessageID is the id that destinations see.
	MessageID MessageID
	// AggregateType is empty when there is none.
	AggregateType string
	// AggregateID is empty when the entry is not ordered.
	AggregateID string
	// EventType says what happened.
	EventType string
	// Destination is the name inside the type.
	Destination string
	// DestinationType is kept as it was stored, known here or not.
	DestinationType destination.Type

	// Payload is the JSON document, or the raw bytes when ContentType is set.
	Payload []byte
	// ContentType is empty for JSON.
	ContentType string
	// Headers is the stored JSON object of text values, nil when there are none.
	Headers json.RawMessage
	// Metadata is the stored metadata document, see DecodeMetadata.
	Metadata json.RawMessage

	// MaxAttempts is the number of attempts after which the entry is dead-lettered.
	MaxAttempts int
	// AvailableAt is the time of the next attempt; zero at the insert means now.
	AvailableAt time.Time
	// ScheduledAt is the time before which nothing is delivered; zero when not scheduled.
	ScheduledAt time.Time

	// Attempt counts the attempts that were charged so far: 0 before the first.
	Attempt int
	// Claims counts claims in a row that came to no outcome, the present one included.
	Claims int
	// CreatedAt is when the entry was inserted, by the store's clock.
	CreatedAt time.Time
}

// Due returns the time from which the entry may be delivered.
func (r *Record) Due() time.Time {
	if r.ScheduledAt.After(r.AvailableAt) {
		return r.ScheduledAt
	}
	return r.AvailableAt
}

// Raw reports whether the payload is raw bytes rather than JSON.
func (r *Record) Raw() bool { return r.ContentType != "" }
