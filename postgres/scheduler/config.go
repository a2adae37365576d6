package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/postgres"
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
	// time zone unless it begins with CRON_TZ=. Default every six hours. One that never
	// comes due is refused.
	Cleanup string
	// Recovery is the schedule of the recovery of leases, written alike. Default every 30
	// seconds. Its period is what an entry of a crashed relay waits beyond its lease.
	Recovery string
	// Maintenance is retention and batch sizes; its zero value has the defaults.
	Maintenance maintenance.Config
	// ArchiveDaysAhead is the number of days for which partitions of the archive are
	// made with each cleanup; 0, the default, leaves the archive alone. At most 366. The
	// archive then keeps entries as long as Maintenance.PublishedRetention says.
	ArchiveDaysAhead int
	// Logger receives a line per run; nil discards it.
	Logger *slog.Logger
}

// Validate reports every problem of the configuration, joined, each a *fault.Invalid that
// repeats no value; defaults apply first. A schedule is named as the configuration file
// does.
func (c Config) Validate() error {
	_, _, err := c.withDefaults().check()
	return err
}

// withDefaults returns a copy with every zero field set.
func (c Config) withDefaults() Config {
	c.Cleanup = cmp.Or(c.Cleanup, DefaultCleanup)
	c.Recovery = cmp.Or(c.Recovery, DefaultRecovery)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check returns the schedules, or every problem.
func (c Config) check() (cleanup, recovery cron.Schedule, err error) {
	problems := []error{c.Maintenance.Validate()}
	if c.ArchiveDaysAhead < 0 || c.ArchiveDaysAhead > postgres.MaxArchiveDaysAhead {
		problems = append(problems, fault.NewInvalid("scheduler archiveDaysAhead", fmt.Sprintf("is not between 0 and %d", postgres.MaxArchiveDaysAhead)))
	}
	cleanup, err = parse("cron.jobs."+CleanupJob+".cron", c.Cleanup)
	problems = append(problems, err)
	recovery, err = parse("cron.jobs."+RecoveryJob+".cron", c.Recovery)
	problems = append(problems, err)
	return cleanup, recovery, errors.Join(problems...)
}

// parse reads a schedule with seconds, all six fields required.
func parse(field, spec string) (schedule cron.Schedule, err error) {
	refused := fault.NewInvalid(field, "is not a schedule of six fields, seconds first")
	defer func() {
		if recover() != nil { // as the parser does over a time zone with nothing behind it
			schedule, err = nil, refused
		}
	}()
	parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	schedule, err = parser.Parse(spec)
	if err != nil { // its text repeats the schedule
		return nil, refused
	}
	if schedule.Next(time.Now()).IsZero() {
		return nil, fault.NewInvalid(field, "never comes due")
	}
	return schedule, nil
}
