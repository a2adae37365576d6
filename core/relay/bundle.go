package relay

import (
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

const (
	// bundleTime is how long a job of several runs should take: goroutines and messages
	// cost microseconds, which is much for a handler that takes less.
	bundleTime = 500 * time.Microsecond
	// maxBundle is the largest number of runs in a job.
	maxBundle = 32
	// doubtful is what an attempt that failed counts as: bundles are for handlers that
	// are quick and succeed.
	doubtful = 10 * time.Millisecond
)

// quickness is a moving average of the time that attempts take, by type. It belongs to
// the loop.
type quickness map[destination.Type]time.Duration

// note takes an attempt in.
func (q quickness) note(t destination.Type, took time.Duration, delivered bool) {
	if !delivered {
		took = max(took, doubtful)
	}
	average, known := q[t]
	if !known {
		average = took
	}
	q[t] = max(1, average+(took-average)/8)
}

// runs returns how many runs of a type may share a job.
func (q quickness) runs(t destination.Type) int {
	average, known := q[t]
	if !known {
		return 1
	}
	return int(min(maxBundle, max(1, bundleTime/average)))
}

// bundle lets the first ready job take over the runs of those after it, as long as
// these are of the same claim and handler and the handler is quick, and returns the
// job and how many ready jobs it stands for. A bundle that turns out slow, or of which
// an attempt fails, gives the runs that it has not begun back; see requeue.
func (l *loop) bundle(ready []*job) (j *job, jobs int) {
	j = ready[0]
	t := j.handler.Type()
	if _, batch := j.handler.(delivery.BatchHandler); batch {
		return j, 1
	}
	n := l.quick.runs(t)
	j.runs = slices.Grow(j.runs, max(0, min(n, len(ready))-len(j.runs)))
	for jobs = 1; jobs < len(ready) && len(j.runs) < n; jobs++ {
		next := ready[jobs]
		if next.lease != j.lease || next.handler.Type() != t {
			break
		}
		j.runs = append(j.runs, next.runs...)
		next.lease.jobs--
	}
	return j, jobs
}

// requeue puts the runs that a job has not begun first in line, each as a job of its
// own.
func (l *loop) requeue(j *job) {
	rest := j.rest()
	if len(rest) == 0 {
		return
	}
	jobs := make([]*job, len(rest))
	for i, run := range rest {
		jobs[i] = &job{handler: j.handler, lease: j.lease, runs: [][]*entry{run}, queued: j.queued}
		j.lease.jobs++
	}
	if j.lease.lost {
		for _, lost := range jobs {
			l.drop(lost)
		}
		return
	}
	l.ready = slices.Concat(jobs, l.ready)
	l.withdrawDown()
}
