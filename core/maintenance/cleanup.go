package maintenance

import (
	"context"
	"log/slog"
	"time"
)

// Cleanup deletes rows that are past their retention. It holds no state.
type Cleanup struct {
	// Store is required.
	Store Store
	// Config is used as of each run; of it MaxClaims is not read.
	Config Config
	// Logger receives a line per run, at level Debug when there was nothing to do; nil discards it.
	Logger *slog.Logger
}

// CleanupReport is what one run of [Cleanup] did.
type CleanupReport struct {
	// Published, DeadLetters and Inbox tell of each table what was deleted from it.
	Published, DeadLetters, Inbox TableReport
	// Deleted is the number of rows deleted from all tables.
	Deleted int
	// Complete says that every table is.
	Complete bool
	// Elapsed is how long the run took.
	Elapsed time.Duration
}

// TableReport is the part of a [CleanupReport] for one kind of row.
type TableReport struct {
	// Deleted is the number of rows deleted.
	Deleted int
	// Batches is the number of batches that were committed.
	Batches int
	// Complete says that nothing past retention was left, save rows that somebody else
	// had locked, or that the rows are kept forever. It is false after an error, a stop,
	// or the end of the time budget.
	Complete bool
}

// Run deletes batch by batch, one batch of each table in turn, until nothing past
// retention is left or the time budget is used up. A table whose batch fails is left
// alone for the rest of the run.
//
// The report is valid also with an error. A *fault.Invalid means that nothing was
// tried; ctx.Err() that the run was stopped; anything else is the store's, joined if
// several tables failed, and the next run goes on where this one ended.
func (c Cleanup) Run(ctx context.Context) (CleanupReport, error) {
	cfg, logger, err := prepare(c.Store, c.Config, c.Logger)
	if err != nil {
		return CleanupReport{}, err
	}
	var report CleanupReport
	start := time.Now()
	tables := []*table{
		{"maintenance.deletePublished", c.Store.DeletePublished, cfg.PublishedRetention, &report.Published, nil},
		{"maintenance.deleteDeadLetters", c.Store.DeleteDeadLetters, cfg.DeadLetterRetention, &report.DeadLetters, nil},
		{"maintenance.deleteInbox", c.Store.DeleteInbox, cfg.InboxRetention, &report.Inbox, nil},
	}
	for _, t := range tables {
		t.report.Complete = t.age == Forever
	}
	// Between rounds, not between batches: every table gets its batch however slow the
	// ones before it are.
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, t := range tables {
			progress = t.batch(ctx, cfg.BatchSize, logger) || progress
		}
		progress = progress && time.Since(start) < cfg.TimeBudget
	}
	var failures []error
	report.Complete = true
	for _, t := range tables {
		report.Deleted += t.report.Deleted
		report.Complete = report.Complete && t.report.Complete
		if t.failed != nil {
			failures = append(failures, t.failed)
		}
	}
	report.Elapsed = time.Since(start)
	result := outcome(ctx, report.Complete, failures)
	logger.Log(ctx, result.level(!report.Complete, report.Deleted),
		"satchel: cleanup",
		"published", report.Published.Deleted, "dead_letters", report.DeadLetters.Deleted, "inbox", report.Inbox.Deleted,
		"complete", report.Complete, "elapsed", report.Elapsed, result.attr())
	return report, result.err()
}

// table is one kind of row during one run.
type table struct {
	op     string
	delete func(ctx context.Context, age time.Duration, batch int) (int, error)
	age    time.Duration
	report *TableReport
	failed error
}

// batch deletes one batch, unless there is no more to do, and reports whether
// another may find more.
func (t *table) batch(ctx context.Context, size int, logger *slog.Logger) bool {
	if t.report.Complete || t.failed != nil || ctx.Err() != nil {
		return false
	}
	deleted, err := guarded(logger, t.op, func() (int, error) { return t.delete(ctx, t.age, size) })
	if err != nil {
		t.failed = err
		return false
	}
	t.report.Batches++
	t.report.Deleted += deleted
	t.report.Complete = deleted < size
	return !t.report.Complete
}
