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
	InboxOutbox InboxOutbox `json:"inboxOutbox"`
	Cron        Cron        `json:"cron"`
	DB          DB          `json:"db"`
}

// InboxOutbox is the section inboxOutbox.
type InboxOutbox struct {
	Relay   Relay   `json:"relay"`
	Cleanup Cleanup `json:"cleanup"`
}

// Relay is the section inboxOutbox.relay: how entries are delivered.
type Relay struct {
	// Strategy is how a relay learns of new entries.
	Strategy relay.Strategy `json:"strategy"`
	// PollingIntervalMs is the longest time between two looks at the table, in milliseconds.
	PollingIntervalMs int `json:"pollingIntervalMs"`
	// BatchSize is the largest number of entries of one claim.
	BatchSize int `json:"batchSize"`
	// Concurrency is the number of handlers that run at once; 0 means BatchSize.
	Concurrency int `json:"concurrency"`
	// Prefetch is the number of entries claimed ahead of the handlers; 0 means BatchSize.
	Prefetch int `json:"prefetch"`
	// RunLength is the number of consecutive entries of one aggregate that one claim takes; 0 means BatchSize.
	RunLength int `json:"runLength"`
	// LeaseTimeoutMs is how long a claim lasts without renewal, in milliseconds.
	LeaseTimeoutMs int `json:"leaseTimeoutMs"`
	// DeliveryTimeoutMs bounds one attempt, in milliseconds.
	DeliveryTimeoutMs int `json:"deliveryTimeoutMs"`
	// DrainTimeoutMs is how long handlers may go on after a stop, in milliseconds.
	DrainTimeoutMs int `json:"drainTimeoutMs"`
	// MaxAttempts is the number of delivery attempts of entries that do not say
	// themselves. It is fixed when an entry is written: a change holds for new entries.
	MaxAttempts int `json:"maxAttempts"`
	// BackoffBaseDelayMs is the delay after the first failed attempt, in milliseconds.
	BackoffBaseDelayMs int `json:"backoffBaseDelayMs"`
	// BackoffMaxDelayMs caps the delay between attempts, in milliseconds.
	BackoffMaxDelayMs int `json:"backoffMaxDelayMs"`
	// UnresolvableDelayMs is the wait after an unresolvable attempt, in milliseconds.
	UnresolvableDelayMs int `json:"unresolvableDelayMs"`
	// Instances is the number of relays in this process.
	Instances int `json:"instances"`
	// OnPublished says what becomes of a delivered entry.
	OnPublished relay.OnPublished `json:"onPublished"`
}

// Cleanup is the section inboxOutbox.cleanup: how long rows stay, and how recovery
// treats entries that are claimed again and again.
type Cleanup struct {
	// PublishedRetentionDays is how long published entries are kept.
	PublishedRetentionDays Days `json:"publishedRetentionDays"`
	// DeadLetterRetentionDays is how long dead-lettered entries are kept.
	DeadLetterRetentionDays Days `json:"deadLetterRetentionDays"`
	// InboxRetentionDays is how long the markers of processed messages are kept: the
	// window in which duplicates are recognised.
	InboxRetentionDays Days `json:"inboxRetentionDays"`
	// CleanupBatchSize is the largest number of rows deleted in one transaction.
	CleanupBatchSize int `json:"cleanupBatchSize"`
	// MaxClaims is how many times in a row an entry may be claimed without any outcome
	// before recovery dead-letters it.
	MaxClaims int `json:"maxClaims"`
}

// Cron is the section cron.
type Cron struct {
	Jobs Jobs `json:"jobs"`
}

// Jobs is the section cron.jobs: when maintenance runs.
type Jobs struct {
	// OutboxCleanup is when old rows are deleted.
	OutboxCleanup Job `json:"outbox-cleanup"`
	// OutboxStaleLeaseRecovery is when expired leases are taken back.
	OutboxStaleLeaseRecovery Job `json:"outbox-stale-lease-recovery"`
}

// Job is the schedule of one job.
type Job struct {
	// Cron is an expression of six fields, the first of which is seconds.
	Cron string `json:"cron"`
}

// DB is the section db.
type DB struct {
	Schemas Schemas `json:"schemas"`
}

// Schemas is the section db.schemas: where tables are.
type Schemas struct {
	// InboxOutbox is the schema of all tables of satchel; empty, which the file says by
	// leaving the key out, means the default schema of the connection.
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
// is read just as strictly. What the Tree held before is lost.
func (t *Tree) UnmarshalJSON(doc []byte) error {
	parsed, err := Parse(doc)
	if err == nil {
		*t = parsed
	}
	return err
}

var _ json.Unmarshaler = (*Tree)(nil)
