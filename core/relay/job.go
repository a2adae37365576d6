package relay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
)

// entry is a claimed record on its way through the relay.
type entry struct {
	record   *outbox.Record
	probe    bool // claimed to see whether its destination is back
	reported bool // its result has reached the loop; belongs to the loop
}

func (e *entry) target() target {
	return target{e.record.DestinationType, e.record.Destination}
}

// fate says how far an entry came in its job.
type fate int

const (
	attempted fate = iota // the handler was called, or could not be
	unstarted             // nothing was tried, and nothing of its aggregate failed here
	behind                // nothing was tried, since an earlier entry of its aggregate did not succeed
)

// result is what a job says of one entry.
type result struct {
	entry   *entry
	fate    fate
	attempt *Attempt // what observers will be told; nil unless attempted
	inTx    bool     // the handler settled the entry in its own transaction: see attempt.Recorded
}

// job is a set of runs that one goroutine delivers: a single run, several for a quick
// handler, or, for a batch handler, all runs of its type in one claim. A run is one or
// more consecutive entries of an aggregate, in order.
type job struct {
	handler delivery.Handler
	lease   *lease
	queued  time.Time
	started time.Time // zero until it runs; belongs to the loop
	cancel  context.CancelFunc

	first [1][]*entry // room for the run of most jobs
	runs  [][]*entry  // changed by the loop only, and under mu once the job runs

	attempts []Attempt // made, and not used yet; belongs to the goroutine that runs the job

	mu       sync.Mutex
	begun    int      // runs that were begun
	results  []result // not yet taken by the loop
	finished bool
	since    time.Time // start of the attempt that is under way, zero between attempts
	current  []*entry  // what that attempt is about
}

// next returns the next run to deliver, or nil.
func (j *job) next() []*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun == len(j.runs) {
		return nil
	}
	j.begun++
	return j.runs[j.begun-1]
}

// all begins every run at once.
func (j *job) all() [][]*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun = len(j.runs)
	return j.runs
}

// rest takes the runs that were not begun out of the job.
func (j *job) rest() [][]*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	rest := j.runs[j.begun:]
	j.runs = j.runs[:j.begun:j.begun]
	return rest
}

// newAttempt returns the record of another attempt. They are made several at a time.
func (j *job) newAttempt() *Attempt {
	if len(j.attempts) == 0 {
		j.attempts = make([]Attempt, min(maxBundle, j.size()))
	}
	a := &j.attempts[0]
	j.attempts = j.attempts[1:]
	return a
}

// put adds results for the loop to take and reports whether the loop must be told.
// Many quick results of one run are worth one message.
func (j *job) put(finished bool, results ...result) (tell bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.results == nil {
		j.results = make([]result, 0, min(maxBundle, j.length()))
	}
	j.results = append(j.results, results...)
	j.finished = j.finished || finished
	j.since = time.Time{}
	return finished
}

// begin notes that an attempt starts and reports whether results wait to be told of:
// before something that may take long, nothing finished should be held back.
func (j *job) begin(now time.Time, current ...*entry) (waiting bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.since, j.current = now, current
	return len(j.results) > 0 && j.results[0].fate == attempted && now.Sub(j.results[0].attempt.Started) > tellAfter
}

// tellAfter is how long a run's results may wait for company.
const tellAfter = 2 * time.Millisecond

// take hands the results so far to the loop.
func (j *job) take() (results []result, finished bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	results, j.results = j.results, nil
	return results, j.finished
}

// attempting returns the attempt that is under way and when it began.
func (j *job) attempting() (current []*entry, since time.Time, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.current, j.since, !j.since.IsZero() && !j.finished
}

// broken accounts for every entry of the begun runs of a job whose attempt under way
// has come to nothing: those that it was about failed with err, the others stay behind.
// The loop recognises entries that it knows of already.
func (j *job) broken(err error, now time.Time) []result {
	current, since, underWay := j.attempting()
	if !underWay {
		current = nil // what it was about has been reported
	}
	j.mu.Lock()
	begun := j.runs[:j.begun]
	j.mu.Unlock()
	var out []result
	for _, run := range begun {
		for _, e := range run {
			if !slices.Contains(current, e) {
				out = append(out, result{entry: e, fate: behind})
				continue
			}
			a := &Attempt{Err: err, Started: since, Duration: now.Sub(since)}
			a.Envelope, _, _ = delivery.EnvelopeOf(e.record)
			out = append(out, result{entry: e, attempt: a})
		}
	}
	return out
}

// size is the number of entries of the job.
func (j *job) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.length()
}

// length is size for those who hold mu.
func (j *job) length() int {
	n := 0
	for _, run := range j.runs {
		n += len(run)
	}
	return n
}
