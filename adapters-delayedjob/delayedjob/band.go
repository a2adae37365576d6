package delayedjob

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/fault"
)

// Band is a range of priorities that share a queue.
type Band struct {
	// Min is the lowest priority of the band. The band ends below the next higher Min;
	// priorities below every Min belong to the band with the lowest one.
	Min int
	// Suffix is added to the base queue; it may be empty.
	Suffix string
	// Weight is the queue's weight in asynq.Config.Queues, at least 1: of the tasks
	// that wait, a server takes about this many from the queue in turn.
	Weight int
}

// Bands turns priorities into queues. asynq has no priority of a task, only weights
// of queues, so each base queue becomes one queue for each band. A weight is a share,
// not an order: a job of low priority can run before a waiting one of high priority
// (asynq.Config.StrictPriority changes that).
//
// The relay applies the bands to the snapshot of an entry and to nothing else. asynq
// tells tasks apart within a queue only, so an entry that is retried across a
// change of the suffixes or of the Min values can be enqueued a second time; let
// the outbox run dry of jobs before such a change. Weights can change at any time.
type Bands []Band

// DefaultBands returns the rule used when none is configured: priorities from 1 up
// go to "<queue>:high" with weight 6, 0 to "<queue>" with weight 3, and negative
// ones to "<queue>:low" with weight 1.
func DefaultBands() Bands {
	return Bands{
		{Min: 1, Suffix: ":high", Weight: 6},
		{Min: 0, Suffix: "", Weight: 3},
		{Min: -1, Suffix: ":low", Weight: 1},
	}
}

// Queue returns the queue for a base queue and a priority. Without bands that is the
// base queue itself.
func (b Bands) Queue(base string, priority int) string {
	if len(b) == 0 {
		return base
	}
	lowest, best := b[0], b[0]
	found := false
	for _, band := range b {
		if band.Min < lowest.Min {
			lowest = band
		}
		if band.Min <= priority && (!found || band.Min > best.Min) {
			best, found = band, true
		}
	}
	if !found {
		best = lowest
	}
	return base + best.Suffix
}

// Queues returns what a server needs in asynq.Config.Queues to work off the base
// queues: every queue of every band with its weight. A nil b means [DefaultBands].
// A server must list a queue to work it off, so a job published to a base queue that
// no server lists here waits for ever.
func (b Bands) Queues(base ...string) map[string]int {
	if b == nil {
		b = DefaultBands()
	}
	queues := make(map[string]int, len(base)*len(b))
	for _, name := range base {
		for _, band := range b {
			queues[name+band.Suffix] = band.Weight
		}
	}
	return queues
}

// Queues is [Bands.Queues] of the [DefaultBands].
func Queues(base ...string) map[string]int { return DefaultBands().Queues(base...) }

func (b Bands) validate() error {
	if len(b) == 0 {
		return fault.NewInvalid("bands", "are empty")
	}
	var problems []error
	mins, suffixes := map[int]bool{}, map[string]bool{}
	for i, band := range b {
		refuse := func(field, reason string) {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("band %d: %s", i, field), reason))
		}
		if mins[band.Min] {
			refuse("min", "is used by another band")
		}
		if suffixes[band.Suffix] {
			refuse("suffix", "is used by another band")
		}
		if reason := checkQueue(DefaultQueue + band.Suffix); reason != "" {
			refuse("suffix", reason)
		}
		if band.Weight < 1 {
			refuse("weight", "is below 1")
		}
		mins[band.Min], suffixes[band.Suffix] = true, true
	}
	return errors.Join(problems...)
}
