package config

import (
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Relay returns the settings of each of the [Relay.Instances] relays of the process.
// What a file cannot say is left to its default there: the waker, owner, propagation,
// observers and logger.
func (t Tree) Relay() relay.Config {
	r := t.InboxOutbox.Relay
	return relay.Config{
		Strategy:          r.Strategy,
		PollingInterval:   milliseconds(r.PollingIntervalMs),
		BatchSize:         r.BatchSize,
		Concurrency:       r.Concurrency,
		Prefetch:          r.Prefetch,
		RunLength:         r.RunLength,
		LeaseTimeout:      milliseconds(r.LeaseTimeoutMs),
		DeliveryTimeout:   milliseconds(r.DeliveryTimeoutMs),
		DrainTimeout:      milliseconds(r.DrainTimeoutMs),
		BackoffBase:       milliseconds(r.BackoffBaseDelayMs),
		BackoffMax:        milliseconds(r.BackoffMaxDelayMs),
		UnresolvableDelay: milliseconds(r.UnresolvableDelayMs),
		OnPublished:       r.OnPublished,
	}
}

// Maintenance returns the settings of recovery and cleanup.
func (t Tree) Maintenance() maintenance.Config {
	c := t.InboxOutbox.Cleanup
	return maintenance.Config{
		PublishedRetention:  c.PublishedRetentionDays.Duration(),
		DeadLetterRetention: c.DeadLetterRetentionDays.Duration(),
		InboxRetention:      c.InboxRetentionDays.Duration(),
		BatchSize:           c.CleanupBatchSize,
		MaxClaims:           c.MaxClaims,
	}
}

// Outbox returns the settings of publishers.
func (t Tree) Outbox() outbox.Config {
	return outbox.Config{MaxAttempts: t.InboxOutbox.Relay.MaxAttempts}
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
