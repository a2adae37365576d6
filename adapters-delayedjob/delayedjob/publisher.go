package delayedjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// Publisher records jobs in the caller's transaction. It is safe for concurrent use
// as far as the transactions are. Use it through [Publish], which is a function because
// the payload's type is a parameter of the call.
type Publisher[Tx any] struct {
	outbox    *outbox.Publisher[Tx]
	overrides Overrides
}

// NewPublisher returns a publisher that writes through p. The overrides are copied;
// those that no job could be run with are refused as *fault.Invalid, all joined.
func NewPublisher[Tx any](p *outbox.Publisher[Tx], overrides Overrides) (*Publisher[Tx], error) {
	if p == nil {
		return nil, fault.NewInvalid("outbox publisher", "is nil")
	}
	copied := make(Overrides, len(overrides))
	var problems []error
	for _, id := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[id]
		if o.Priority != nil {
			o.Priority = new(*o.Priority)
		}
		copied[id] = o
		if reason := checkName(id, maxJobID); reason != "" {
			problems = append(problems, fault.NewInvalid("override's job id", reason))
			continue
		}
		valid := Snapshot{Queue: DefaultQueue, MaxAttempts: DefaultMaxAttempts}
		if err := copied.apply(id, valid).validate(fmt.Sprintf("override of job %q: ", id)); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Publisher[Tx]{outbox: p, overrides: copied}, nil
}

// PublishOption adjusts one run of a job.
type PublishOption func(*outbox.Entry)

// ScheduledAt keeps the job from running before the given time, up to the year 9999. The
// zero time and times in the past mean as soon as possible. For a delay give
// time.Now().Add(delay).
func ScheduledAt(at time.Time) PublishOption {
	return func(e *outbox.Entry) { e.ScheduledAt = at }
}

// Publish records one run of a job in tx and returns the id of the outbox entry. The
// job is enqueued after tx has committed, and never if it rolls back. There is no
// task yet, so there is no task id to return: see [Handler.TaskID].
//
// The payload is stored as JSON. Errors are those of outbox.Publisher.Publish: after
// a *fault.Invalid the transaction is still usable.
func Publish[P, Tx any](ctx context.Context, p *Publisher[Tx], tx Tx, job Job[P], payload P, opts ...PublishOption) (outbox.ID, error) {
	if job.id == "" {
		return 0, fault.NewInvalid("job", "was not made by NewJob")
	}
	switch any(payload).(type) {
	case outbox.Raw, *outbox.Raw:
		return 0, fault.NewInvalid("payload", "is raw; a job's payload is JSON")
	}
	control, _ := json.Marshal(p.overrides.apply(job.id, job.defaults)) // a text and two numbers always marshal
	e := outbox.Entry{
		DestinationType: destination.DelayedJob,
		Destination:     job.id,
		EventType:       job.id,
		Payload:         payload,
		Delivery:        map[string]json.RawMessage{DeliveryKey: control},
	}
	for _, opt := range opts {
		opt(&e)
	}
	return p.outbox.Publish(ctx, tx, e)
}
