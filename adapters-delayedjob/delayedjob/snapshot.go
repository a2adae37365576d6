package delayedjob

import (
	"encoding/json"
	"errors"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// DeliveryKey is the member of outbox.Metadata.Delivery that holds the [Snapshot].
const DeliveryKey = "delayedJob"

// Snapshot is how a job is to be run, as it was decided when its entry was written.
// The relay reads nothing else, so a contract or a configuration that changes later
// does not change entries that exist.
type Snapshot struct {
	// Queue is the effective base queue.
	Queue string `json:"queue"`
	// Priority is the effective priority.
	Priority int `json:"priority"`
	// MaxAttempts is how often the job runs at most, the first run included.
	MaxAttempts int `json:"maxAttempts"`
}

// SnapshotOf reads the snapshot of an entry. It is strict about the three members,
// since a guess would run the job in a way that nobody chose, and ignores others,
// so that a newer writer does not stop an older relay. Errors are *fault.Invalid.
func SnapshotOf(m outbox.Metadata) (Snapshot, error) {
	const field = "delayed-job snapshot"
	doc, ok := m.Delivery[DeliveryKey]
	if !ok {
		return Snapshot{}, fault.NewInvalid(field, "is missing")
	}
	var stored struct {
		Queue       *string `json:"queue"`
		Priority    *int    `json:"priority"`
		MaxAttempts *int    `json:"maxAttempts"`
	}
	// The decoder's error can quote the document.
	if err := json.Unmarshal(doc, &stored); err != nil {
		return Snapshot{}, fault.NewInvalid(field, "is not an object with queue, priority and maxAttempts")
	}
	if stored.Queue == nil || stored.Priority == nil || stored.MaxAttempts == nil {
		return Snapshot{}, fault.NewInvalid(field, "lacks one of queue, priority and maxAttempts")
	}
	s := Snapshot{Queue: *stored.Queue, Priority: *stored.Priority, MaxAttempts: *stored.MaxAttempts}
	if err := s.validate("delayed-job snapshot "); err != nil {
		return Snapshot{}, err
	}
	return s, nil
}

// validate names fields with the given prefix. It returns all problems joined.
func (s Snapshot) validate(prefix string) error {
	var problems []error
	if reason := checkQueue(s.Queue); reason != "" {
		problems = append(problems, fault.NewInvalid(prefix+"queue", reason))
	}
	if !inRange32(s.Priority) {
		problems = append(problems, fault.NewInvalid(prefix+"priority", "does not fit in 32 bits"))
	}
	if s.MaxAttempts < 1 || !inRange32(s.MaxAttempts) {
		problems = append(problems, fault.NewInvalid(prefix+"max attempts", "is below 1 or above 2147483647"))
	}
	return errors.Join(problems...)
}
