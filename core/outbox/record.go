package outbox

import (
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/destination"
)

// Record is an entry as a store holds it. A [Writer] receives it with the fields up
// to ScheduledAt set; a claim returns it with all of them.
type Record struct {
	ID            ID
	MessageID     MessageID
	AggregateType string // empty when there is none
	AggregateID   string // empty when the entry is not ordered
	EventType     string
	Destination   string
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

	MaxAttempts int
	AvailableAt time.Time // zero at insert means now
	ScheduledAt time.Time // zero when not scheduled

	// Attempt counts the attempts that were charged so far: 0 before the first.
	Attempt int
	// Claims counts how often the entry was claimed, also when nothing came of it.
	Claims    int
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
