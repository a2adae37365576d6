package delayedjob

import (
	"errors"
	"math"

	"github.com/satchel-go/satchel/core/fault"
)

// What a job gets when its contract does not say.
const (
	// DefaultQueue is the queue of a job without one.
	DefaultQueue = "default"
	// DefaultMaxAttempts is how often a job runs at most when its contract does not say.
	DefaultMaxAttempts = 3
)

// Defaults are the part of a job's contract that decides how it runs. The zero
// value is valid.
type Defaults struct {
	// Queue is the base name of the asynq queue; see [Bands] for what a priority adds
	// to it. At most 128 characters, no control characters and no braces. Empty means
	// [DefaultQueue].
	Queue string
	// Priority selects a band of the queue, see [Bands]. asynq knows no priority of
	// a task, only weights of queues. It fits in 32 bits; 0 is normal.
	Priority int
	// MaxAttempts is how often the job runs at most, the first run included, between
	// 1 and 2147483647. 0 means [DefaultMaxAttempts]. It is not the number of times
	// the relay tries to enqueue the job: that is the entry's own.
	MaxAttempts int
}

// Job is the contract of a delayed job: a durable id, the type of its payload, and
// defaults. Publisher and worker share it. The zero value is not usable.
type Job[P any] struct {
	id       string
	defaults Snapshot
}

// NewJob returns a contract. The id is the outbox destination and asynq's task type;
// it is stored with every entry, so it must stay the same for as long as entries
// and tasks exist. It has 1 to 255 characters, none of them a control character.
// What is malformed is reported as *fault.Invalid, all problems joined.
func NewJob[P any](id string, d Defaults) (Job[P], error) {
	var idProblem error
	if reason := checkName(id, maxJobID); reason != "" {
		idProblem = fault.NewInvalid("job id", reason)
	}
	if d.Queue == "" {
		d.Queue = DefaultQueue
	}
	if d.MaxAttempts == 0 {
		d.MaxAttempts = DefaultMaxAttempts
	}
	snapshot := Snapshot(d)
	if err := errors.Join(idProblem, snapshot.validate("job ")); err != nil {
		return Job[P]{}, err
	}
	return Job[P]{id: id, defaults: snapshot}, nil
}

// MustJob is [NewJob] for package-level variables: it panics instead of returning
// an error.
func MustJob[P any](id string, d Defaults) Job[P] {
	job, err := NewJob[P](id, d)
	if err != nil {
		panic(err)
	}
	return job
}

// ID returns the durable id.
func (j Job[P]) ID() string { return j.id }

// Defaults returns the defaults, with what was left out filled in.
func (j Job[P]) Defaults() Defaults { return Defaults(j.defaults) }

// Override replaces parts of one job's defaults by configuration.
type Override struct {
	// Queue replaces the queue; empty keeps it.
	Queue string
	// Priority replaces the priority; nil keeps it.
	Priority *int
	// MaxAttempts replaces the attempts; 0 keeps them.
	MaxAttempts int
}

// Overrides is configuration by job id. It may name jobs that nobody publishes here.
type Overrides map[string]Override

// apply returns the defaults of a job with the configuration for it put on top.
func (o Overrides) apply(id string, s Snapshot) Snapshot {
	override, ok := o[id]
	if !ok {
		return s
	}
	if override.Queue != "" {
		s.Queue = override.Queue
	}
	if override.Priority != nil {
		s.Priority = *override.Priority
	}
	if override.MaxAttempts != 0 {
		s.MaxAttempts = override.MaxAttempts
	}
	return s
}

// inRange32 reports whether n can be read by every language and held by asynq.
func inRange32(n int) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }
