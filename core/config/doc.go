// Package config is the configuration file of satchel: its keys, their defaults and
// bounds, and one strict reader for it.
//
//	{
//	  "inboxOutbox": {
//	    "relay":   { "strategy": "LISTEN_NOTIFY", "batchSize": 200, "instances": 2 },
//	    "cleanup": { "publishedRetentionDays": 3, "deadLetterRetentionDays": "FOREVER" }
//	  },
//	  "cron": { "jobs": { "outbox-cleanup": { "cron": "0 0 3 * * *" } } },
//	  "db":   { "schemas": { "inbox-outbox": "messaging" } }
//	}
//
// It is read and handed on like this:
//
//	tree, err := config.Parse(doc)
//	if err != nil {
//		return err // names every key that is wrong
//	}
//	r, err := relay.New(store, handlers, tree.Relay())
//
// Every key may be left out. [Parse] reads JSON, [FromMap] what another loader has
// read; both start from [Default] and give a [Tree], and [Tree.Relay],
// [Tree.Maintenance] and [Tree.Outbox] turn that into the settings of the parts. What
// the application has to supply as values (loggers, observers, wakers) is not in the
// file and is added to those settings.
//
// # The keys
//
//	key                                    default          bounds
//	inboxOutbox.relay.strategy             LISTEN_NOTIFY    or POLLING
//	inboxOutbox.relay.pollingIntervalMs    1000             1 to 604800000
//	inboxOutbox.relay.batchSize            50               1 to 10000
//	inboxOutbox.relay.concurrency          0 = batchSize    0 to 10000
//	inboxOutbox.relay.prefetch             0 = batchSize    0 to 10000
//	inboxOutbox.relay.runLength            0 = batchSize    0 to 10000
//	inboxOutbox.relay.leaseTimeoutMs       30000            300 to 604800000
//	inboxOutbox.relay.deliveryTimeoutMs    30000            1 to 604800000
//	inboxOutbox.relay.drainTimeoutMs       10000            1 to 604800000
//	inboxOutbox.relay.maxAttempts          20               1 to 1000000
//	inboxOutbox.relay.backoffBaseDelayMs   1000             1 to 604800000
//	inboxOutbox.relay.backoffMaxDelayMs    300000           backoffBaseDelayMs to 604800000
//	inboxOutbox.relay.unresolvableDelayMs  30000            1 to 604800000
//	inboxOutbox.relay.instances            1                1 to 100
//	inboxOutbox.relay.onPublished          KEEP             or ARCHIVE or DELETE
//	inboxOutbox.cleanup.publishedRetentionDays   7          1 to 36500, or "FOREVER"
//	inboxOutbox.cleanup.deadLetterRetentionDays  30         1 to 36500, or "FOREVER"
//	inboxOutbox.cleanup.inboxRetentionDays       30         1 to 36500, or "FOREVER"
//	inboxOutbox.cleanup.cleanupBatchSize         1000       1 to 10000
//	inboxOutbox.cleanup.maxClaims                5          1 to 1000
//	cron.jobs.outbox-cleanup.cron                0 0 */6 * * *    not blank
//	cron.jobs.outbox-stale-lease-recovery.cron   */30 * * * * *   not blank
//	db.schemas.inbox-outbox                none: unqualified  one schema name
//
// Milliseconds go up to 7 days. Cron expressions have six fields, seconds first.
//
// # Guarantees
//
// What is misspelled, of the wrong type, out of bounds, given twice or no longer
// exists is refused, never ignored: a setting that is in an accepted file has its
// effect. An unknown key is refused with its full path and, where one is close, the
// key that was probably meant. One error joins all problems, each a *fault.Invalid
// that names the key and never repeats a value, so that it is safe to log.
//
// An accepted tree is one that the relay, the publisher and maintenance accept.
//
// # Not guaranteed
//
// Cron expressions are read by the scheduler, which is the one to refuse a malformed
// one. Whether a schema exists is known to the database only. The reader takes only
// these keys: an application with settings of its own in the same file passes this
// package the sections inboxOutbox, cron and db, reduced to what is listed here.
package config
