package kafkainbox

import "fmt"

// Reason says why a record cannot be processed.
type Reason string

// The reasons.
const (
	// NoMessageID: the record has no usable message id, so duplicates of it could not be
	// recognised. Something else than satchel sent it, or the header names differ.
	NoMessageID Reason = "no-message-id"
	// Refused: Work returned an error that is marked as permanent.
	Refused Reason = "refused"
	// Exhausted: every attempt failed.
	Exhausted Reason = "attempts-exhausted"
)

// RecordError says which record could not be processed. Run returns it when there is
// no dead-letter topic, or when the record could not be stored in it.
type RecordError struct {
	Topic     string // where the record is, with Partition and Offset
	Partition int32  // in the topic
	Offset    int64  // in the partition; the next Run begins here
	Reason    Reason // why it cannot be processed
	// Attempts is how often the record was tried.
	Attempts int
	// Err is the error of the last attempt, joined with that of the dead-letter topic.
	Err error
}

// Error implements error.
func (e *RecordError) Error() string {
	return fmt.Sprintf("satchel: record %s/%d@%d cannot be processed (%s): %v", e.Topic, e.Partition, e.Offset, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }
