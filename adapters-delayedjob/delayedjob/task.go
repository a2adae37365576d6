package delayedjob

import (
	"encoding/json"
	"time"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// task turns an entry into an asynq task and says how it is to be run. Every option
// is given explicitly: what asynq does without one (25 retries, a random id) is never
// wanted. An error means that no attempt can succeed.
func (h *Handler) task(e *delivery.Envelope) (*asynq.Task, []asynq.Option, error) {
	if e.ContentType != outbox.JSONContentType {
		return nil, nil, fault.NewInvalid("payload", "is raw; a job's payload is JSON")
	}
	if !json.Valid(e.Payload) {
		return nil, nil, fault.NewInvalid("payload", "is not valid JSON") // no worker could decode it
	}
	if e.MessageID == (outbox.MessageID{}) {
		// All such entries would share one task id: the first would swallow the others.
		return nil, nil, fault.NewInvalid("message id", "is zero")
	}
	snapshot, err := SnapshotOf(e.Metadata)
	if err != nil {
		return nil, nil, err
	}
	options := []asynq.Option{
		asynq.TaskID(h.TaskID(e.MessageID)),
		asynq.Queue(h.cfg.Bands.Queue(snapshot.Queue, snapshot.Priority)),
		asynq.MaxRetry(snapshot.MaxAttempts - 1), // asynq counts retries, not runs
		asynq.Timeout(h.cfg.Timeout),
		asynq.Retention(h.cfg.Retention),
	}
	if at, later := runAt(e.ScheduledAt, time.Now()); later {
		options = append(options, asynq.ProcessAt(at))
	}
	headers := encodeHeaders(h.cfg.ReservedPrefix, e.MessageID, e.Metadata.Context)
	return asynq.NewTaskWithHeaders(e.Destination, e.Payload, headers), options, nil
}

// runAt returns the time to give to asynq, which keeps whole seconds and cuts the
// rest: cut, a job would run early. A time that has come, or none, is not later; to
// round that up would only delay the job.
func runAt(scheduled, now time.Time) (at time.Time, later bool) {
	if scheduled.IsZero() || !scheduled.After(now) {
		return time.Time{}, false
	}
	at = time.Unix(scheduled.Unix(), 0)
	if scheduled.Nanosecond() != 0 {
		at = at.Add(time.Second)
	}
	return at, true
}
