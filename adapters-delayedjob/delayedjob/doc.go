// Package delayedjob turns outbox entries into delayed jobs of github.com/hibiken/asynq.
//
// An application records a job in the transaction that makes it necessary, with
// [Publish]. After the commit a relay hands the entry to a [Handler],
// which enqueues a task in Redis; an asynq server runs it, in this process or in
// another, through a [Mux]. The three share nothing but the [Job], the contract.
//
//	var sendInvoice = delayedjob.MustJob[Invoice]("invoice.send", delayedjob.Defaults{Queue: "mail"})
//
//	// where the order is confirmed, inside its transaction
//	_, err = delayedjob.Publish(ctx, jobs, tx, sendInvoice, Invoice{Order: 7})
//
//	// where jobs are run
//	err = delayedjob.HandleFunc(mux, sendInvoice, func(ctx context.Context, in Invoice) error { ... })
//
// # Decided when it is written
//
// Queue, priority and attempts come from the contract, or from [Overrides] by
// configuration, and are fixed with the entry as a [Snapshot]. The relay reads only
// that: a deployment that changes a default changes no entry that is already written.
// An entry without a readable snapshot is a mistake of whoever wrote it and is
// dead-lettered at once. The time at which a job is due is not part of the snapshot
// but the entry's own scheduled time.
//
// # Guarantees
//
// A job is enqueued if and only if its transaction committed, and at least once. The
// task id is the message id, so a second delivery of an entry finds the task of the
// first, whether that is pending, scheduled, active, waiting for a retry, archived
// or completed, and adds nothing. A job never runs before its scheduled time: asynq
// keeps whole seconds, and what is handed to it is rounded up. Snapshot.MaxAttempts
// is the number of runs. Propagation context and message id reach the job as task
// headers; the application's headers do not. No failure of Redis costs an entry:
// see [Handler.Deliver] for which verdict is given when.
//
// # Not guaranteed
//
// That a job runs once: asynq repeats a run whose worker died, and a run that
// outlived Config.Timeout. Give [MessageID] to an inbox when its effect must happen once.
//
// That a completed task is remembered for ever: its id is free again after
// Config.Retention, after asynq trimmed the archive (90 days, or 10,000 tasks in a
// queue), after somebody deleted the task, and at once when the job returned
// asynq.RevokeTask. An entry that is delivered again after that runs again.
//
// That Redis keeps what it acknowledged: without an append-only file that is synced on
// every write, and replicas that are waited for, a crash or a failover can lose tasks
// whose entries are published already. This is the boundary of the outbox's promise; a
// job that must survive it needs a persistent Redis or another destination.
//
// Order: jobs have no aggregate. Punctuality: asynq looks for due tasks every five
// seconds (asynq.Config.DelayedTaskCheckInterval), by the clock of the worker's
// machine, and a worker whose clock is ahead runs a job early by as much.
//
// # Priority
//
// asynq has weighted queues and no priority of a task. A priority therefore selects
// a queue, by the rule of [Bands], and [Queues] tells a server which queues to list:
//
//	asynq.NewServerFromRedisClient(client, asynq.Config{Queues: delayedjob.Queues("default", "mail")})
package delayedjob
