package config

import (
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
)

// key is one key of the file: its path, what it may hold, and where that goes.
type key struct {
	path string
	rule rule
}

// Bounds, besides those of relay and maintenance.
const (
	maxMs        = 7 * 24 * 60 * 60 * 1000 // 7 days; fits an int of 32 bits
	minLeaseMs   = int(relay.MinLeaseTimeout / time.Millisecond)
	maxAttempts  = 1_000_000
	maxInstances = 100
)

// keys is the whole file, in the order of the documentation. Everything else about the
// file is derived from it: what exists, what is checked, what is suggested.
var keys = []key{
	{"inboxOutbox.relay.strategy", choice[relay.Strategy]{
		inRelay(func(r *Relay) *relay.Strategy { return &r.Strategy }),
		[]relay.Strategy{relay.ListenNotify, relay.Polling},
	}},
	{"inboxOutbox.relay.pollingIntervalMs", whole{inRelay(func(r *Relay) *int { return &r.PollingIntervalMs }), 1, maxMs}},
	{"inboxOutbox.relay.batchSize", whole{inRelay(func(r *Relay) *int { return &r.BatchSize }), 1, relay.MaxBatchSize}},
	{"inboxOutbox.relay.concurrency", whole{inRelay(func(r *Relay) *int { return &r.Concurrency }), 0, relay.MaxBatchSize}},
	{"inboxOutbox.relay.prefetch", whole{inRelay(func(r *Relay) *int { return &r.Prefetch }), 0, relay.MaxBatchSize}},
	{"inboxOutbox.relay.runLength", whole{inRelay(func(r *Relay) *int { return &r.RunLength }), 0, relay.MaxBatchSize}},
	{"inboxOutbox.relay.leaseTimeoutMs", whole{inRelay(func(r *Relay) *int { return &r.LeaseTimeoutMs }), minLeaseMs, maxMs}},
	{"inboxOutbox.relay.deliveryTimeoutMs", whole{inRelay(func(r *Relay) *int { return &r.DeliveryTimeoutMs }), 1, maxMs}},
	{"inboxOutbox.relay.drainTimeoutMs", whole{inRelay(func(r *Relay) *int { return &r.DrainTimeoutMs }), 1, maxMs}},
	{"inboxOutbox.relay.maxAttempts", whole{inRelay(func(r *Relay) *int { return &r.MaxAttempts }), 1, maxAttempts}},
	{backoffBase, whole{inRelay(func(r *Relay) *int { return &r.BackoffBaseDelayMs }), 1, maxMs}},
	{backoffMax, whole{inRelay(func(r *Relay) *int { return &r.BackoffMaxDelayMs }), 1, maxMs}},
	{"inboxOutbox.relay.unresolvableDelayMs", whole{inRelay(func(r *Relay) *int { return &r.UnresolvableDelayMs }), 1, maxMs}},
	{"inboxOutbox.relay.instances", whole{inRelay(func(r *Relay) *int { return &r.Instances }), 1, maxInstances}},
	{"inboxOutbox.relay.onPublished", choice[relay.OnPublished]{
		inRelay(func(r *Relay) *relay.OnPublished { return &r.OnPublished }),
		[]relay.OnPublished{relay.Keep, relay.Archive, relay.Delete},
	}},

	{"inboxOutbox.cleanup.publishedRetentionDays", retention{inCleanup(func(c *Cleanup) *Days { return &c.PublishedRetentionDays })}},
	{"inboxOutbox.cleanup.deadLetterRetentionDays", retention{inCleanup(func(c *Cleanup) *Days { return &c.DeadLetterRetentionDays })}},
	{"inboxOutbox.cleanup.inboxRetentionDays", retention{inCleanup(func(c *Cleanup) *Days { return &c.InboxRetentionDays })}},
	{"inboxOutbox.cleanup.cleanupBatchSize", whole{inCleanup(func(c *Cleanup) *int { return &c.CleanupBatchSize }), 1, maintenance.MaxBatchSize}},
	{"inboxOutbox.cleanup.maxClaims", whole{inCleanup(func(c *Cleanup) *int { return &c.MaxClaims }), 1, maintenance.MaxMaxClaims}},

	{cleanupCron, text{inJobs(func(j *Jobs) *string { return &j.OutboxCleanup.Cron }), checkCron, false}},
	{"cron.jobs.outbox-stale-lease-recovery.cron", text{inJobs(func(j *Jobs) *string { return &j.OutboxStaleLeaseRecovery.Cron }), checkCron, false}},

	{"db.schemas.inbox-outbox", text{func(t *Tree) *string { return &t.DB.Schemas.InboxOutbox }, checkSchema, true}},
}

func inRelay[T any](at func(*Relay) *T) func(*Tree) *T {
	return func(t *Tree) *T { return at(&t.InboxOutbox.Relay) }
}

func inCleanup[T any](at func(*Cleanup) *T) func(*Tree) *T {
	return func(t *Tree) *T { return at(&t.InboxOutbox.Cleanup) }
}

func inJobs[T any](at func(*Jobs) *T) func(*Tree) *T {
	return func(t *Tree) *T { return at(&t.Cron.Jobs) }
}

// Keys that others refer to.
const (
	backoffBase = "inboxOutbox.relay.backoffBaseDelayMs"
	backoffMax  = "inboxOutbox.relay.backoffMaxDelayMs"
	cleanupCron = "cron.jobs.outbox-cleanup.cron"
)

// retired are keys that once had a meaning: they are refused with the reason, since
// a file that still has one expects an effect.
var retired = map[string]string{
	"inboxOutbox.cleanup.cleanupIntervalHours": "was removed; set " + cleanupCron + " instead",
}

// relation is a condition that several keys must meet together.
type relation struct {
	keys   []string // the first one is blamed
	broken func(t *Tree) bool
	reason string
}

var relations = []relation{
	{
		keys: []string{backoffMax, backoffBase},
		broken: func(t *Tree) bool {
			return t.InboxOutbox.Relay.BackoffMaxDelayMs < t.InboxOutbox.Relay.BackoffBaseDelayMs
		},
		reason: "is shorter than " + backoffBase,
	},
}
