package outbox

import (
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/text"
)

const (
	// DefaultMaxAttempts is the number of delivery attempts of an entry when neither
	// the entry nor the publisher says otherwise.
	DefaultMaxAttempts = 20
	// MaxMaxAttempts is the largest number of delivery attempts: what the column holds.
	MaxMaxAttempts = 1<<31 - 1
)

// Entry is what an application wants delivered. The zero value is not valid:
// EventType, Destination, DestinationType and Payload are required.
type Entry struct {
	// DestinationType selects the kind of destination.
	DestinationType destination.Type
	// Destination is the stable name inside the type: a topic, an operation, a job.
	// 1 to 255 characters.
	Destination string
	// EventType says what happened, for example "order.confirmed". 1 to 255 characters.
	EventType string

	// AggregateID orders entries: those with the same id are delivered one after
	// another in the order of their ids. Empty means no order. At most 255
	// characters. Only this id orders, not AggregateType: use ids that are unique
	// across types ("order-42") unless one order across them is wanted.
	AggregateID string
	// AggregateType describes AggregateID, for example "Order". At most 255 characters.
	AggregateType string

	// Payload is marshalled with encoding/json; a json.RawMessage is taken as it is.
	// Numbers keep their digits, but key order, duplicate keys and white space are not
	// preserved: a [Raw] payload is delivered byte for byte. Nil is refused.
	Payload any
	// Headers are the application's own. They reach the destination unchanged, in no
	// particular order.
	Headers map[string]string
	// Delivery is control data that an adapter's publisher fixes at write time, by
	// kind. Applications leave it empty.
	Delivery map[string]json.RawMessage

	// ScheduledAt is the time before which the entry must not be delivered; zero
	// means none. Until then it holds back younger entries of its aggregate.
	ScheduledAt time.Time
	// AvailableAt delays the first attempt; zero, or a time in the past, means now.
	// Unlike ScheduledAt it is changed by retries.
	AvailableAt time.Time
	// MaxAttempts is the number of delivery attempts before the entry is
	// dead-lettered; 0 means the publisher's default. Not negative, at most
	// [MaxMaxAttempts].
	MaxAttempts int
}

// Times that PostgreSQL and every client of it can hold without surprises.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// validate checks everything but payload, headers and metadata.
func (e *Entry) validate() error {
	if err := e.DestinationType.Validate(); err != nil {
		return err
	}
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"destination", e.Destination, true},
		{"event type", e.EventType, true},
		{"aggregate id", e.AggregateID, false},
		{"aggregate type", e.AggregateType, false},
	} {
		if f.value == "" && !f.required {
			continue
		}
		if problem := text.Check(f.value); problem != text.None {
			return fault.NewInvalid(f.name, string(problem))
		}
	}
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"scheduled time", e.ScheduledAt}, {"available time", e.AvailableAt}} {
		if !f.at.IsZero() && (f.at.Before(earliest) || f.at.After(latest)) {
			return fault.NewInvalid(f.name, "lies outside the years 1970 to 9999")
		}
	}
	if e.MaxAttempts < 0 || e.MaxAttempts > MaxMaxAttempts {
		return fault.NewInvalid("max attempts", "is negative or larger than 2147483647")
	}
	return nil
}
