// Package scheduler runs maintenance at fixed times, once per cluster: the recovery of
// expired leases, the retention of settled entries and inbox markers, and the
// partitions of the archive.
//
//	s, err := scheduler.New(store, scheduler.Config{})
//	...
//	err = s.Run(ctx) // until ctx ends
//
// It runs two jobs of package maintenance of module core, each on a schedule of its own:
// [RecoveryJob] every 30 seconds, and [CleanupJob] every six hours, which under
// Config.ArchiveDaysAhead also makes and drops the archive's partitions.
//
// # Guarantees
//
// Run it on any number of nodes: when a job is due on several at once, one of them does
// it (see postgres.Store.Exclusive). It has goroutines of its own, and a connection of its
// own outside the pool for each job that runs, so that handlers which fill every slot of a
// relay cannot delay it; the jobs' statements take a connection of the pool for a moment
// each. A job that fails, or panics, is logged and comes again when it is next due; the
// jobs do not wait for each other. Nothing runs eagerly at start, so that a service which
// was down for long can first receive what was redelivered meanwhile before the inbox
// forgets it.
//
// # Not guaranteed
//
// Punctuality: schedules follow the clock of the machine, and a run that takes longer than
// its period skips the times that passed meanwhile. That anybody runs it: alarm on
// postgres.Store.LastRun.
package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/postgres"
)

// The jobs, by the names that they have in the configuration and in outbox_maintenance.
const (
	// CleanupJob deletes what retention allows, and looks after the archive.
	CleanupJob = "outbox-cleanup"
	// RecoveryJob takes back expired leases and heals broken entries.
	RecoveryJob = "outbox-stale-lease-recovery"
)

// Scheduler runs maintenance jobs.
type Scheduler struct {
	store   *postgres.Store
	cfg     Config
	owner   string
	jobs    []job
	running atomic.Bool
}

// job is a job with its schedule.
type job struct {
	name     string
	schedule cron.Schedule
	work     func(ctx context.Context) (affected int64, err error)
}

// ErrRunning is returned by Run while the scheduler runs.
var ErrRunning = errors.New("satchel: the scheduler is already running")

// New checks the configuration and returns all problems joined, each a *fault.Invalid. It
// does no I/O.
func New(store *postgres.Store, cfg Config) (*Scheduler, error) {
	var storeErr error
	if store == nil {
		storeErr = fault.NewInvalid("scheduler store", "is nil")
	}
	cfg = cfg.withDefaults()
	cleanup, recovery, err := cfg.check()
	if err := errors.Join(storeErr, err); err != nil {
		return nil, err
	}
	s := &Scheduler{store: store, cfg: cfg, owner: owner()}
	s.jobs = []job{{RecoveryJob, recovery, s.recover}, {CleanupJob, cleanup, s.cleanup}}
	return s, nil
}

func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%.180s-%d-%.8s", strings.ToValidUTF8(host, "_"), os.Getpid(), strings.ToLower(rand.Text()))
}

// Run runs the jobs when they are due until ctx ends, and then returns nil as soon as
// the batch under way is committed. A job that fails is logged and comes again when it
// is next due; jobs do not wait for each other.
func (s *Scheduler) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer s.running.Store(false)
	var all sync.WaitGroup
	for _, j := range s.jobs {
		all.Go(func() { s.loop(ctx, j) })
	}
	all.Wait()
	return nil
}

// loop runs one job at its times. A run that takes longer than its period skips the
// times that passed meanwhile.
func (s *Scheduler) loop(ctx context.Context, j job) {
	for {
		now := time.Now()
		timer := time.NewTimer(j.schedule.Next(now).Sub(now))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			_, _ = s.once(ctx, j) // logged
		}
	}
}

// once runs a job unless another node does.
func (s *Scheduler) once(ctx context.Context, j job) (ran bool, err error) {
	start := time.Now()
	ran, err = s.store.Exclusive(ctx, j.name, s.owner, period(j.schedule, start), func(ctx context.Context) (n int64, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("satchel: job %s panicked with a %T", j.name, v)
			}
		}()
		return j.work(ctx)
	})
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.WarnContext(ctx, "maintenance failed", "job", j.name, "error", err, "took", time.Since(start))
	}
	return ran, err
}

// period is half the time to the next run: short enough for clocks that differ a
// little, long enough for nodes that are due at the same moment.
func period(schedule cron.Schedule, now time.Time) time.Duration {
	next := schedule.Next(now)
	return schedule.Next(next).Sub(next) / 2
}

func (s *Scheduler) recover(ctx context.Context) (int64, error) {
	report, err := maintenance.Recovery{Store: s.store, Config: s.cfg.Maintenance, Logger: s.cfg.Logger}.Run(ctx)
	return int64(report.Reclaimed.Returned + report.Reclaimed.DeadLettered + report.Healed.Repaired), err
}

func (s *Scheduler) cleanup(ctx context.Context) (int64, error) {
	report, err := maintenance.Cleanup{Store: s.store, Config: s.cfg.Maintenance, Logger: s.cfg.Logger}.Run(ctx)
	if s.cfg.ArchiveDaysAhead > 0 {
		_, archiveErr := s.store.MaintainArchive(ctx, s.cfg.ArchiveDaysAhead, s.archiveDays())
		err = errors.Join(err, archiveErr)
	}
	return int64(report.Deleted), err
}

// archiveDays is the retention of published entries in whole days, 0 for ever.
func (s *Scheduler) archiveDays() int {
	keep := s.cfg.Maintenance.PublishedRetention
	switch keep {
	case maintenance.Forever:
		return 0
	case 0:
		keep = maintenance.DefaultPublishedRetention
	}
	return int((keep + maintenance.Day - 1) / maintenance.Day)
}
