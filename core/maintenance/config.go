package maintenance

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/satchel-go/satchel/core/fault"
)

// Forever is the retention that keeps rows for good: the table is not touched.
const Forever time.Duration = math.MaxInt64

// Day is the unit of retention in the configuration file: 24 hours.
const Day = 24 * time.Hour

// Defaults of [Config].
const (
	// DefaultPublishedRetention is the default of PublishedRetention.
	DefaultPublishedRetention = 7 * Day
	// DefaultDeadLetterRetention is the default of DeadLetterRetention.
	DefaultDeadLetterRetention = 30 * Day
	// DefaultInboxRetention is the default of InboxRetention.
	DefaultInboxRetention = 30 * Day
	// DefaultBatchSize is the default of BatchSize, in rows.
	DefaultBatchSize = 1000
	// DefaultMaxClaims is the default of MaxClaims.
	DefaultMaxClaims = 5
	// DefaultTimeBudget is the default of TimeBudget.
	DefaultTimeBudget = 5 * time.Minute
)

// Bounds of [Config].
const (
	// MinRetention is the shortest retention: below it a unit was most likely forgotten,
	// and what is deleted is gone.
	MinRetention = time.Minute
	// MaxRetention is the longest retention other than [Forever]: 36,500 days.
	MaxRetention = 36_500 * Day
	// MaxBatchSize is the largest batch.
	MaxBatchSize = 10_000
	// MaxMaxClaims is the largest MaxClaims.
	MaxMaxClaims = 1000
	// MaxTimeBudget is the longest time budget.
	MaxTimeBudget = Day
)

// Config adjusts [Recovery] and [Cleanup]. Every field may be left zero, which means
// its default; no negative value has a meaning.
type Config struct {
	// PublishedRetention is how long a published entry is kept, counted from its
	// publication. Default 7 days, from one minute to 36,500 days; [Forever] keeps it for
	// good.
	PublishedRetention time.Duration
	// DeadLetterRetention is how long a dead-lettered entry is kept, counted from its
	// last failure. Default 30 days, from one minute to 36,500 days; [Forever] keeps it
	// for good.
	DeadLetterRetention time.Duration
	// InboxRetention is how long the marker of a processed message is kept, and with it
	// the window in which a duplicate is recognised. Default 30 days, from one minute to
	// 36,500 days; [Forever] keeps it for good.
	InboxRetention time.Duration
	// BatchSize is the largest number of rows that one transaction of a cleanup deletes.
	// Recovery takes back a fiftieth of that in leases per transaction, at least one,
	// since a lease usually holds some 50 entries, and looks at ten times as many entries
	// for healing, since that mostly reads. Default 1,000, at most 10,000.
	BatchSize int
	// MaxClaims is how many times in a row an entry may be claimed without any outcome
	// before recovery dead-letters it. Default 5, at least 1, at most 1,000.
	MaxClaims int
	// TimeBudget is the time after which a run starts no further round of batches.
	// Default 5 minutes, at most 24 hours.
	TimeBudget time.Duration
}

// withDefaults returns a copy with every zero field set.
func (c Config) withDefaults() Config {
	c.PublishedRetention = cmp.Or(c.PublishedRetention, DefaultPublishedRetention)
	c.DeadLetterRetention = cmp.Or(c.DeadLetterRetention, DefaultDeadLetterRetention)
	c.InboxRetention = cmp.Or(c.InboxRetention, DefaultInboxRetention)
	c.BatchSize = cmp.Or(c.BatchSize, DefaultBatchSize)
	c.MaxClaims = cmp.Or(c.MaxClaims, DefaultMaxClaims)
	c.TimeBudget = cmp.Or(c.TimeBudget, DefaultTimeBudget)
	return c
}

// Validate reports every problem of the configuration, joined, each a *fault.Invalid
// that names the field ("maintenance batchSize"); defaults apply first.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	refuse := func(field, reason string) {
		problems = append(problems, fault.NewInvalid("maintenance "+field, reason))
	}
	for _, r := range []struct {
		field string
		value time.Duration
	}{
		{"publishedRetention", c.PublishedRetention},
		{"deadLetterRetention", c.DeadLetterRetention},
		{"inboxRetention", c.InboxRetention},
	} {
		switch {
		case r.value < MinRetention:
			refuse(r.field, fmt.Sprintf("is shorter than %v", MinRetention))
		case r.value > MaxRetention && r.value != Forever:
			refuse(r.field, "is longer than 36500 days, and not forever")
		}
	}
	for _, n := range []struct {
		field        string
		value, limit int
	}{
		{"batchSize", c.BatchSize, MaxBatchSize},
		{"maxClaims", c.MaxClaims, MaxMaxClaims},
	} {
		if n.value < 1 || n.value > n.limit {
			refuse(n.field, fmt.Sprintf("is not between 1 and %d", n.limit))
		}
	}
	if c.TimeBudget < 0 || c.TimeBudget > MaxTimeBudget {
		refuse("timeBudget", "is negative or longer than 24 hours")
	}
	return errors.Join(problems...)
}
