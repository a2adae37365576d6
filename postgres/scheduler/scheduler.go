// Package scheduler runs maintenance at fixed times, once per cluster: the recovery of
// expired leases, the retention of settled entries and inbox markers, and the
// partitions of the archive.
//
//	s, err := scheduler.New(store, scheduler.Config{})
//	...
//	err = s.Run(ctx) // until ctx ends
//
// Run it on any number of nodes: when a job is due on several at once, one of them does
// it (see postgres.Store.Exclusive). It has goroutines and connections of its own, so
// that handlers which fill every slot of a relay cannot delay it. Nothing runs eagerly at
// start, so that a service which was down for long can first receive what was
// redelivered meanwhile before the inbox forgets it.
package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
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
	CleanupJob  = "outbox-cleanup"
	RecoveryJob = "outbox-stale-lease-recovery"
)

// Default schedules, with seconds as the first field.
const (
	// DefaultCleanup is every six hours.
	DefaultCleanup = "0 0 */6 * * *"
	// DefaultRecovery is every thirty seconds.
	DefaultRecovery = "*/30 * * * * *"
)

// Config adjusts a [Scheduler]. The zero value is ready to use.
type Config struct {
	// Cleanup is the schedule of the cleanup: six fields, seconds first, in the local
	// time zone unless it begins with CRON_TZ=. Default every six hours.
	Cleanup string
	// Recovery is the schedule of the recovery of leases. Default every 30 seconds.
	Recovery string
	// Maintenance is retention and batch sizes.
	Maintenance maintenance.Config
	// ArchiveDaysAhead is the number of days for which partitions of the archive are
	// made with each cleanup; 0, the default, leaves the archive alone. At most 366. The
	// archive then keeps entries as long as Maintenance.PublishedRetention says.
	ArchiveDaysAhead int
	// Logger receives a line per run; nil discards it.
	Logger *slog.Logger
}

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

// New checks the configuration and returns all problems joined. It does no I/O.
func New(store *postgres.Store, cfg Config) (*Scheduler, error) {
	if cfg.Cleanup == "" {
		cfg.Cleanup = DefaultCleanup
	}
	if cfg.Recovery == "" {
		cfg.Recovery = DefaultRecovery
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	problems := []error{cfg.Maintenance.Validate()}
	if store == nil {
		problems = append(problems, fault.NewInvalid("scheduler store", "is nil"))
	}
	if cfg.ArchiveDaysAhead < 0 || cfg.ArchiveDaysAhead > 366 {
		problems = append(problems, fault.NewInvalid("scheduler archiveDaysAhead", "is not between 0 and 366"))
	}
	cleanup, err := parse("cron.jobs."+CleanupJob+".cron", cfg.Cleanup)
	problems = append(problems, err)
	recovery, err := parse("cron.jobs."+RecoveryJob+".cron", cfg.Recovery)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	s := &Scheduler{store: store, cfg: cfg, owner: owner()}
	s.jobs = []job{{RecoveryJob, recovery, s.recover}, {CleanupJob, cleanup, s.cleanup}}
	return s, nil
}

// parse reads a schedule with seconds, all six fields required.
func parse(field, spec string) (cron.Schedule, error) {
	parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	schedule, err := parser.Parse(spec)
	if err != nil {
		return nil, &fault.Invalid{Field: field, Reason: "is not a schedule of six fields, seconds first", Cause: err}
	}
	if schedule.Next(time.Now()).IsZero() {
		return nil, fault.NewInvalid(field, "never comes due")
	}
	return schedule, nil
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
	return int64(report.Deleted()), err
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
