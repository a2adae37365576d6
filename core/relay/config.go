package relay

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
	"github.com/satchel-go/satchel/core/internal/text"
	"github.com/satchel-go/satchel/core/propagation"
)

// Strategy says how a relay learns of new entries.
type Strategy string

// The strategies.
const (
	// ListenNotify: the relay sleeps when there is nothing to do, and a notification,
	// the next due time or the polling interval wakes it, whichever is first.
	ListenNotify Strategy = "LISTEN_NOTIFY"
	// Polling: the relay looks at every polling interval; it needs no trigger, no
	// listener and no registry.
	Polling Strategy = "POLLING"
)

// Defaults of [Config].
const (
	// DefaultPollingInterval is the default of PollingInterval.
	DefaultPollingInterval = time.Second
	// DefaultBatchSize is the default of BatchSize, in entries.
	DefaultBatchSize = 50
	// DefaultLeaseTimeout is the default of LeaseTimeout.
	DefaultLeaseTimeout = 30 * time.Second
	// DefaultDeliveryTimeout is the default of DeliveryTimeout.
	DefaultDeliveryTimeout = 30 * time.Second
	// DefaultDrainTimeout is the default of DrainTimeout.
	DefaultDrainTimeout = 10 * time.Second
	// DefaultStoreTimeout is the default of StoreTimeout.
	DefaultStoreTimeout = 30 * time.Second
	// DefaultBackoffBase is the default of BackoffBase.
	DefaultBackoffBase = time.Second
	// DefaultBackoffMax is the default of BackoffMax.
	DefaultBackoffMax = 5 * time.Minute
	// DefaultUnresolvableDelay is the default of UnresolvableDelay.
	DefaultUnresolvableDelay = 30 * time.Second
	// DefaultProbeDelay is the default of ProbeDelay.
	DefaultProbeDelay = time.Second
	// DefaultProbeMax is the default of ProbeMax.
	DefaultProbeMax = 30 * time.Second
)

// Bounds of [Config].
const (
	// MaxBatchSize is the largest batch, concurrency, prefetch and run length.
	MaxBatchSize = 10_000
	// MinLeaseTimeout is the shortest lease: below it a renewal could come too late.
	MinLeaseTimeout = 300 * time.Millisecond
	// MaxDuration bounds every duration: 366 days.
	MaxDuration = 366 * 24 * time.Hour
)

// Config adjusts a [Relay]. Every field may be left zero, which means its default. No
// negative value has a meaning. Durations are from 1 ms to 366 days unless a field says
// otherwise; the backoff may be shorter.
type Config struct {
	// Strategy is how the relay learns of new entries. Default ListenNotify.
	Strategy Strategy
	// Waker delivers hints under ListenNotify; nil means that only polling and
	// Relay.Wake find new entries. Not used under Polling.
	Waker Waker
	// PollingInterval is the longest time between two looks at the table. Default 1 s.
	PollingInterval time.Duration
	// BatchSize is the largest number of entries of one claim. Default 50, at most 10,000.
	BatchSize int
	// Concurrency is the number of handlers that run at once. Default BatchSize, at most
	// 10,000.
	Concurrency int
	// Prefetch is the number of entries held claimed beyond those being handled, so
	// that handlers do not wait for the database. Default BatchSize, at most 10,000.
	Prefetch int
	// RunLength is the number of consecutive entries of one aggregate that one claim
	// may take. Default BatchSize, at most 10,000.
	RunLength int
	// LeaseTimeout is how long a claim lasts without renewal: the time after which the
	// entries of a crashed relay are delivered by another. Default 30 s, at least 300 ms.
	LeaseTimeout time.Duration
	// DeliveryTimeout bounds one attempt; its context ends then, and a handler that
	// does not return soon after is reported, its attempt counted as failed, and its
	// slot kept until it returns. Default 30 s.
	DeliveryTimeout time.Duration
	// DrainTimeout is how long handlers may go on after the relay was told to stop.
	// Default 10 s.
	DrainTimeout time.Duration
	// StoreTimeout bounds one call of the store. Default 30 s.
	StoreTimeout time.Duration
	// BackoffBase is the delay after the first failed attempt; it doubles with each. Default 1 s.
	BackoffBase time.Duration
	// BackoffMax caps the delay between attempts, jitter included. Default 5 min, or
	// BackoffBase if that is longer; not shorter than BackoffBase.
	BackoffMax time.Duration
	// UnresolvableDelay is the wait after an unresolvable attempt. Default 30 s.
	UnresolvableDelay time.Duration
	// ProbeDelay is the time after which a destination that was found unavailable is
	// probed with one entry; it doubles up to ProbeMax. Defaults 1 s and 30 s; ProbeMax
	// at least ProbeDelay, which is its default if that is longer.
	ProbeDelay, ProbeMax time.Duration
	// OnPublished says what becomes of a delivered entry. Default Keep.
	OnPublished OnPublished
	// Owner names this relay in the database: unique among all that run now, at most 255
	// characters. Default the host name, the process id and a random suffix.
	Owner string
	// Propagation restores stored context into the context of a handler; nil restores nothing.
	Propagation *propagation.Set
	// Observers are told of every attempt, in the order given. None may be nil.
	Observers []Observer
	// Logger receives warnings; nil discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy with every zero field set.
func (c Config) withDefaults() Config {
	c.Strategy = cmp.Or(c.Strategy, ListenNotify)
	c.PollingInterval = cmp.Or(c.PollingInterval, DefaultPollingInterval)
	c.BatchSize = cmp.Or(c.BatchSize, DefaultBatchSize)
	c.Concurrency = cmp.Or(c.Concurrency, c.BatchSize)
	c.Prefetch = cmp.Or(c.Prefetch, c.BatchSize)
	c.RunLength = cmp.Or(c.RunLength, c.BatchSize)
	c.LeaseTimeout = cmp.Or(c.LeaseTimeout, DefaultLeaseTimeout)
	c.DeliveryTimeout = cmp.Or(c.DeliveryTimeout, DefaultDeliveryTimeout)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	c.StoreTimeout = cmp.Or(c.StoreTimeout, DefaultStoreTimeout)
	c.BackoffBase = cmp.Or(c.BackoffBase, DefaultBackoffBase)
	c.BackoffMax = cmp.Or(c.BackoffMax, max(DefaultBackoffMax, c.BackoffBase))
	c.UnresolvableDelay = cmp.Or(c.UnresolvableDelay, DefaultUnresolvableDelay)
	c.ProbeDelay = cmp.Or(c.ProbeDelay, DefaultProbeDelay)
	c.ProbeMax = cmp.Or(c.ProbeMax, max(DefaultProbeMax, c.ProbeDelay))
	c.OnPublished = cmp.Or(c.OnPublished, Keep)
	if c.Owner == "" {
		c.Owner = newOwner()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every problem of the configuration, joined, each a *fault.Invalid;
// defaults apply first.
func (c Config) Validate() error {
	given, c := c, c.withDefaults()
	var problems []error
	refuse := func(field, reason string) { problems = append(problems, fault.NewInvalid("relay "+field, reason)) }
	if c.Strategy != ListenNotify && c.Strategy != Polling {
		refuse("strategy", "is neither LISTEN_NOTIFY nor POLLING")
	}
	if c.OnPublished != Keep && c.OnPublished != Archive && c.OnPublished != Delete {
		refuse("onPublished", "is none of KEEP, ARCHIVE and DELETE")
	}
	// Only what was given is judged: a default that follows another field is as wrong as that.
	for _, n := range []struct {
		field string
		value int
	}{{"batchSize", given.BatchSize}, {"concurrency", given.Concurrency}, {"prefetch", given.Prefetch}, {"runLength", given.RunLength}} {
		if n.value != 0 && (n.value < 1 || n.value > MaxBatchSize) {
			refuse(n.field, fmt.Sprintf("is not between 1 and %d", MaxBatchSize))
		}
	}
	for _, d := range []struct {
		field    string
		value    time.Duration
		shortest time.Duration
	}{
		{"pollingInterval", given.PollingInterval, time.Millisecond},
		{"leaseTimeout", given.LeaseTimeout, MinLeaseTimeout},
		{"deliveryTimeout", given.DeliveryTimeout, time.Millisecond},
		{"drainTimeout", given.DrainTimeout, time.Millisecond},
		{"storeTimeout", given.StoreTimeout, time.Millisecond},
		{"backoffBase", given.BackoffBase, 1},
		{"backoffMax", given.BackoffMax, 1},
		{"unresolvableDelay", given.UnresolvableDelay, time.Millisecond},
		{"probeDelay", given.ProbeDelay, time.Millisecond},
		{"probeMax", given.ProbeMax, time.Millisecond},
	} {
		switch {
		case d.value == 0:
		case d.value < d.shortest:
			refuse(d.field, fmt.Sprintf("is shorter than %v", d.shortest))
		case d.value > MaxDuration:
			refuse(d.field, "is longer than 366 days")
		}
	}
	if c.BackoffMax < c.BackoffBase {
		refuse("backoffMax", "is shorter than backoffBase")
	}
	if c.ProbeMax < c.ProbeDelay {
		refuse("probeMax", "is shorter than probeDelay")
	}
	if problem := text.Check(c.Owner); problem != text.None {
		refuse("owner", string(problem))
	}
	if c.Waker != nil && absent.Is(c.Waker) {
		refuse("waker", "is a nil pointer")
	}
	for i, o := range c.Observers {
		if absent.Is(o) {
			refuse(fmt.Sprintf("observers[%d]", i), "is nil")
		}
	}
	return errors.Join(problems...)
}
