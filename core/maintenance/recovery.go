package maintenance

import (
	"context"
	"log/slog"
	"time"
)

const (
	// entriesPerLease is what a lease usually holds, one claim of a relay with default
	// settings: a batch of leases is smaller by it, so that it changes about a batch of rows.
	entriesPerLease = 50
	// windowFactor is the size of a window of healing in batches: a window is read
	// through an index and seldom changes anything.
	windowFactor = 10
)

// Recovery takes back expired leases and heals broken entries. It knows nothing of
// destination types: any node recovers the entries of every node. It holds no state.
type Recovery struct {
	// Store is required.
	Store Store
	// Config is used as of each run; of it BatchSize, MaxClaims and TimeBudget are read.
	Config Config
	// Logger receives a line per run, at level Debug when there was nothing to do; nil discards it.
	Logger *slog.Logger
}

// RecoveryReport is what one run of [Recovery] did.
type RecoveryReport struct {
	// Reclaimed adds up all batches of the run.
	Reclaimed Reclaimed
	// Batches is the number of batches that were committed.
	Batches int
	// Complete says that no expired lease was left, save any that somebody else had
	// locked; false after an error, a stop, or the end of the time budget.
	Complete bool
	// Healed is the window of this run.
	Healed Healed
	// Elapsed is how long the run took.
	Elapsed time.Duration
}

// Run takes back expired leases, batch by batch, until none is left or the time
// budget is used up, and then heals one window. Each part runs whether or not the
// other failed.
//
// The report is valid also with an error. A *fault.Invalid means that nothing was
// tried; ctx.Err() that the run was stopped; anything else is the store's, and the
// next run goes on where this one ended.
func (r Recovery) Run(ctx context.Context) (RecoveryReport, error) {
	cfg, logger, err := prepare(r.Store, r.Config, r.Logger)
	if err != nil {
		return RecoveryReport{}, err
	}
	var report RecoveryReport
	start := time.Now()
	var failures []error
	if err := r.reclaim(ctx, cfg, logger, &report); err != nil {
		failures = append(failures, err)
	}
	healed := false
	if ctx.Err() == nil {
		err := r.heal(ctx, cfg, logger, &report)
		if healed = err == nil; !healed {
			failures = append(failures, err)
		}
	}
	report.Elapsed = time.Since(start)
	result := outcome(ctx, report.Complete && healed, failures)
	logger.Log(ctx, result.level(!report.Complete || report.Reclaimed.DeadLettered > 0, report.Reclaimed.Leases+report.Healed.Repaired),
		"satchel: recovery",
		"leases", report.Reclaimed.Leases, "returned", report.Reclaimed.Returned, "dead_lettered", report.Reclaimed.DeadLettered,
		"repaired", report.Healed.Repaired, "complete", report.Complete, "elapsed", report.Elapsed, result.attr())
	return report, result.err()
}

func (r Recovery) reclaim(ctx context.Context, cfg Config, logger *slog.Logger, report *RecoveryReport) error {
	batch := max(1, cfg.BatchSize/entriesPerLease)
	for start := time.Now(); ctx.Err() == nil; {
		var got Reclaimed
		leases, err := guarded(logger, "maintenance.reclaim", func() (int, error) {
			var err error
			got, err = r.Store.Reclaim(ctx, batch, cfg.MaxClaims)
			return got.Leases, err
		})
		if err != nil {
			return err
		}
		report.Batches++
		report.Reclaimed.Leases += leases
		report.Reclaimed.Returned += got.Returned
		report.Reclaimed.DeadLettered += got.DeadLettered
		report.Complete = leases < batch
		if report.Complete || time.Since(start) >= cfg.TimeBudget {
			break
		}
	}
	return nil
}

func (r Recovery) heal(ctx context.Context, cfg Config, logger *slog.Logger, report *RecoveryReport) error {
	var got Healed
	_, err := guarded(logger, "maintenance.heal", func() (int, error) {
		var err error
		got, err = r.Store.Heal(ctx, cfg.BatchSize*windowFactor)
		return got.Examined, err
	})
	if err == nil {
		report.Healed = got
	}
	return err
}
