package config

import (
	"encoding/json"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// Tree is the whole configuration, shaped and named as the file is; the package
// documentation lists default and bounds of each field. The zero value is not valid:
// begin with [Default]. A Tree is a plain value: copies are independent.
type Tree struct {
	// InboxOutbox is how entries are delivered and how long rows stay.
	InboxOutbox InboxOutbox `json:"inboxOutbox"`
	// Cron is when maintenance runs.
	Cron Cron `json:"cron"`
	// DB is where the tables are.
	DB DB `json:"db"`
}

// InboxOutbox is the section inboxOutbox.
type InboxOutbox struct {
	// Relay is how entries are delivered.
	Relay Relay `json:"relay"`
	// Cleanup is how long rows stay.
	Cleanup Cleanup `json:"cleanup"`
}

// Relay is the section inboxOutbox.relay: how entries are delivered.
type Relay struct {
	// Strategy is how a relay learns of new entries. Default LISTEN_NOTIFY.
	Strategy relay.Strategy `json:"strategy"`
	// PollingIntervalMs is the longest time between two looks at the table, in milliseconds.
	// Default 1000, from 1 to 604,800,000.
	PollingIntervalMs int `json:"pollingIntervalMs"`
	// BatchSize is the largest number of entries of one claim. Default 50, from 1 to 10,000.
	BatchSize int `json:"batchSize"`
	// Concurrency is the number of handlers that run at once; 0, the default, means
	// BatchSize. At most 10,000.
	Concurrency int `json:"concurrency"`
	// Prefetch is the number of entries claimed ahead of the handlers; 0, the default,
	// means BatchSize. At most 10,000.
	Prefetch int `json:"prefetch"`
	// RunLength is the number of consecutive entries of one aggregate that one claim
	// takes; 0, the default, means BatchSize. At most 10,000.
	RunLength int `json:"runLength"`
	// LeaseTimeoutMs is how long a claim lasts without renewal, in milliseconds.
	// Default 30,000, from 300 to 604,800,000.
	LeaseTimeoutMs int `json:"leaseTimeoutMs"`
	// DeliveryTimeoutMs bounds one attempt, in milliseconds. Default 30,000, from 1 to
	// 604,800,000.
	DeliveryTimeoutMs int `json:"deliveryTimeoutMs"`
	// DrainTimeoutMs is how long handlers may go on after a stop, in milliseconds.
	// Default 10,000, from 1 to 604,800,000.
	DrainTimeoutMs int `json:"drainTimeoutMs"`
	// MaxAttempts is the number of delivery attempts of entries that do not say
	// themselves. It is fixed when an entry is written: a change holds for new entries.
	// Default 20, from 1 to 1,000,000.
	MaxAttempts int `json:"maxAttempts"`
	// BackoffBaseDelayMs is the delay after the first failed attempt, in milliseconds.
	// Default 1000, from 1 to 604,800,000.
	BackoffBaseDelayMs int `json:"backoffBaseDelayMs"`
	// BackoffMaxDelayMs caps the delay between attempts, in milliseconds. Default
	// 300,000, from BackoffBaseDelayMs to 604,800,000.
	BackoffMaxDelayMs int `json:"backoffMaxDelayMs"`
	// UnresolvableDelayMs is the wait after an unresolvable attempt, in milliseconds.
	// Default 30,000, from 1 to 604,800,000.
	UnresolvableDelayMs int `json:"unresolvableDelayMs"`
	// Instances is the number of relays in this process. Default 1, at most 100.
	Instances int `json:"instances"`
	// OnPublished says what becomes of a delivered entry. Default KEEP.
	OnPublished relay.OnPublished `json:"onPublished"`
}

// Cleanup is the section inboxOutbox.cleanup: how long rows stay, and how recovery
// treats entries that are claimed again and again.
type Cleanup struct {
	// PublishedRetentionDays is how long published entries are kept. Default 7 days.
	PublishedRetentionDays Days `json:"publishedRetentionDays"`
	// DeadLetterRetentionDays is how long dead-lettered entries are kept. Default 30 days.
	DeadLetterRetentionDays Days `json:"deadLetterRetentionDays"`
	// InboxRetentionDays is how long the markers of processed messages are kept: the
	// window in which duplicates are recognised. Default 30 days.
	InboxRetentionDays Days `json:"inboxRetentionDays"`
	// CleanupBatchSize is the largest number of rows deleted in one transaction.
	// Default 1000, from 1 to 10,000.
	CleanupBatchSize int `json:"cleanupBatchSize"`
	// MaxClaims is how many times in a row an entry may be claimed without any outcome
	// before recovery dead-letters it. Default 5, from 1 to 1000.
	MaxClaims int `json:"maxClaims"`
}

// Cron is the section cron.
type Cron struct {
	// Jobs are the schedules, by job.
	Jobs Jobs `json:"jobs"`
}

// Jobs is the section cron.jobs: when maintenance runs.
type Jobs struct {
	// OutboxCleanup is when old rows are deleted. Default every six hours.
	OutboxCleanup Job `json:"outbox-cleanup"`
	// OutboxStaleLeaseRecovery is when expired leases are taken back. Default every 30 seconds.
	OutboxStaleLeaseRecovery Job `json:"outbox-stale-lease-recovery"`
}

// Job is the schedule of one job.
type Job struct {
	// Cron is an expression of six fields, the first of which is seconds; not blank, at
	// most 255 bytes.
	Cron string `json:"cron"`
}

// DB is the section db.
type DB struct {
	// Schemas are the names of schemas, by use.
	Schemas Schemas `json:"schemas"`
}

// Schemas is the section db.schemas: where tables are.
type Schemas struct {
	// InboxOutbox is the schema of all tables of satchel; empty, which the file says by
	// leaving the key out, means the default schema of the connection. At most 63 bytes.
	InboxOutbox string `json:"inbox-outbox,omitempty"`
}

// Default returns the configuration of an empty file.
func Default() Tree {
	return Tree{
		InboxOutbox: InboxOutbox{
			Relay: Relay{
				Strategy:            relay.ListenNotify,
				PollingIntervalMs:   int(relay.DefaultPollingInterval.Milliseconds()),
				BatchSize:           relay.DefaultBatchSize,
				LeaseTimeoutMs:      int(relay.DefaultLeaseTimeout.Milliseconds()),
				DeliveryTimeoutMs:   int(relay.DefaultDeliveryTimeout.Milliseconds()),
				DrainTimeoutMs:      int(relay.DefaultDrainTimeout.Milliseconds()),
				MaxAttempts:         outbox.DefaultMaxAttempts,
				BackoffBaseDelayMs:  int(relay.DefaultBackoffBase.Milliseconds()),
				BackoffMaxDelayMs:   int(relay.DefaultBackoffMax.Milliseconds()),
				UnresolvableDelayMs: int(relay.DefaultUnresolvableDelay.Milliseconds()),
				Instances:           1,
				OnPublished:         relay.Keep,
			},
			Cleanup: Cleanup{
				PublishedRetentionDays:  Days(maintenance.DefaultPublishedRetention / maintenance.Day),
				DeadLetterRetentionDays: Days(maintenance.DefaultDeadLetterRetention / maintenance.Day),
				InboxRetentionDays:      Days(maintenance.DefaultInboxRetention / maintenance.Day),
				CleanupBatchSize:        maintenance.DefaultBatchSize,
				MaxClaims:               maintenance.DefaultMaxClaims,
			},
		},
		Cron: Cron{Jobs: Jobs{
			OutboxCleanup:            Job{Cron: "0 0 */6 * * *"},
			OutboxStaleLeaseRecovery: Job{Cron: "*/30 * * * * *"},
		}},
	}
}

// UnmarshalJSON is [Parse], so that a Tree inside an application's own configuration
// is read just as strictly, with the same errors. What the Tree held before is lost,
// unless doc is refused.
func (t *Tree) UnmarshalJSON(doc []byte) error {
	parsed, err := Parse(doc)
	if err == nil {
		*t = parsed
	}
	return err
}

var _ json.Unmarshaler = (*Tree)(nil)
