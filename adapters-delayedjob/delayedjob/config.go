package delayedjob

import (
	"cmp"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// Defaults and bounds of [Config].
const (
	// DefaultTimeout is how long one run of a job may take. asynq has the same value,
	// but applies it silently; here it is always sent.
	DefaultTimeout = 30 * time.Minute
	// DefaultRetention is how long a completed task is kept.
	DefaultRetention = 24 * time.Hour
	// MinRetention is the shortest retention. With the relay's default settings it is
	// longer than the time between two attempts of one entry.
	MinRetention = time.Hour
	// MaxDuration bounds timeout and retention: 366 days.
	MaxDuration = 366 * 24 * time.Hour
)

// Config is the configuration of a [Handler]. Client and Registry are required.
type Config struct {
	// Client is the connection to Redis: a client, a cluster or a sentinel client,
	// best made with [FailFast]. The handler never closes it.
	Client redis.UniversalClient
	// Registry lists the job ids that this node may enqueue.
	Registry *Registry

	// Namespace is put before the message id to make the task id, so that services
	// that share a Redis, or a copy of a database beside its original, do not take
	// each other's tasks for their own. Empty means none. At most 128 characters. A
	// change makes a retried entry a new task.
	Namespace string
	// Fingerprint identifies the Redis behind Client (a name, a run id). An entry that
	// was stored with another one is left alone. Empty matches every entry.
	Fingerprint string
	// ReservedPrefix starts the names of the task headers. It should be that of
	// outbox.Config and must be that of the workers' [MuxConfig]; neither spaces nor
	// colons. Empty means "satchel-".
	ReservedPrefix string
	// Bands turns priorities into queues; nil means [DefaultBands].
	Bands Bands
	// Timeout is how long one run of a job may take; after that asynq counts the run
	// as failed and cancels its context. Whole seconds are sent, fractions rounded up.
	// 0 means [DefaultTimeout]; at most [MaxDuration].
	Timeout time.Duration
	// Retention is how long a task that completed is kept in Redis, payload included.
	// While it is kept, an entry that is delivered again (the relay died before it
	// could record the first delivery) does not become a second task. It must
	// therefore be longer than the time between two attempts of one entry: the
	// relay's lease, its longest backoff, and the longest time that no relay runs.
	// Whole seconds, rounded up. 0 means [DefaultRetention]; from [MinRetention] to
	// [MaxDuration].
	Retention time.Duration
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns c ready for use, or all its problems joined.
func (c Config) withDefaults() (Config, error) {
	var problems []error
	refuse := func(field, reason string) {
		if reason != "" {
			problems = append(problems, fault.NewInvalid(field, reason))
		}
	}
	if c.Client == nil {
		refuse("redis client", "is nil")
	}
	if c.Registry == nil {
		refuse("job registry", "is nil")
	}
	if c.Namespace != "" {
		refuse("namespace", checkName(c.Namespace, maxQueue))
	}
	c.ReservedPrefix = cmp.Or(c.ReservedPrefix, outbox.DefaultReservedPrefix)
	refuse("reserved prefix", checkPrefix(c.ReservedPrefix))
	if c.Bands == nil {
		c.Bands = DefaultBands()
	}
	c.Bands = append(Bands(nil), c.Bands...)
	if err := c.Bands.validate(); err != nil {
		problems = append(problems, err)
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if c.Timeout < 0 || c.Timeout > MaxDuration {
		refuse("timeout", "is negative or longer than 366 days")
	}
	c.Retention = cmp.Or(c.Retention, DefaultRetention)
	if c.Retention < MinRetention || c.Retention > MaxDuration {
		refuse("retention", "is not between an hour and 366 days")
	}
	c.Timeout, c.Retention = wholeSeconds(c.Timeout), wholeSeconds(c.Retention)
	return c, errors.Join(problems...)
}

// wholeSeconds rounds up. asynq cuts to whole seconds, and what it cuts to zero
// means something else: a timeout of 500 ms would become none at all.
func wholeSeconds(d time.Duration) time.Duration {
	if cut := d.Truncate(time.Second); cut < d {
		return cut + time.Second
	}
	return d
}
