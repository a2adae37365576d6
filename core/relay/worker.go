package relay

import (
	"context"
	"errors"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// errGoexit is the result of an attempt whose handler ended its goroutine.
var errGoexit = errors.New("satchel: handler ended its goroutine")

// worker delivers jobs. It is shared by all goroutines and has no state of its own.
type worker struct {
	cfg      *Config
	session  Session
	stopping func() bool   // no further entry is to be started
	outages  func() int64  // number of times that a destination was found down
	reports  chan<- *job   // told when a job has results
	gone     chan struct{} // closed when the loop no longer listens
}

// run delivers a job to its end.
func (w *worker) run(ctx context.Context, j *job) {
	// The deferred call also covers a handler that calls runtime.Goexit.
	finished := false
	defer func() {
		if !finished {
			w.tell(j, j.put(true, j.broken(errGoexit, time.Now())...))
		}
	}()
	if batch, ok := j.handler.(delivery.BatchHandler); ok {
		w.waves(ctx, j, batch)
	} else {
		// What is left when a run was not delivered whole, or a destination was found down,
		// goes back to the loop.
		outages := w.outages()
		for run := j.next(); run != nil && w.sequence(ctx, j, run) && w.outages() == outages; run = j.next() {
		}
	}
	finished = true
	w.tell(j, j.put(true))
}

// tell lets the loop know that the job has results, unless the loop has ended.
func (w *worker) tell(j *job, needed bool) {
	if !needed {
		return
	}
	select {
	case w.reports <- j:
	case <-w.gone:
	}
}

// sequence delivers a run in order, stops at the first entry that is not delivered, and
// reports whether all were.
func (w *worker) sequence(ctx context.Context, j *job, run []*entry) (whole bool) {
	for i, e := range run {
		if w.stopping() || ctx.Err() != nil {
			w.tell(j, j.put(false, skipped(run[i:], unstarted)...))
			return false
		}
		r := w.attempt(ctx, j, e)
		if r.attempt.Err != nil || r.inTx && !r.attempt.Recorded {
			w.tell(j, j.put(false, append([]result{r}, skipped(run[i+1:], behind)...)...))
			return false
		}
		w.tell(j, j.put(false, r))
	}
	return true
}

// attempt makes one attempt at one entry.
func (w *worker) attempt(ctx context.Context, j *job, e *entry) result {
	a := j.newAttempt()
	a.Started = time.Now()
	r := result{entry: e, attempt: a}
	if j.begin(a.Started, e) {
		w.tell(j, true)
	}
	limited := newAttemptContext(ctx, w.cfg.DeliveryTimeout)
	defer limited.end()
	if a.Envelope, a.Err = w.envelope(limited, j.handler, e); a.Err == nil {
		ctx := w.cfg.Propagation.Restore(limited, a.Envelope.Metadata.Context)
		session, lends := w.session.(TxSession)
		if h, ok := j.handler.(delivery.TxHandler); ok && lends && inTx(h, a.Envelope) {
			w.inTx(ctx, j, session, h, &r)
		} else {
			a.Err = delivery.Attempt(ctx, j.handler, a.Envelope)
		}
	}
	a.Duration = time.Since(a.Started)
	return r
}

// inTx lets the handler work in the transaction that settles its entry.
func (w *worker) inTx(ctx context.Context, j *job, session TxSession, h delivery.TxHandler, r *result) {
	o := Outcome{ID: r.entry.record.ID, Lease: j.lease.id, Kind: Published, AggregateID: r.entry.record.AggregateID}
	var recorded bool
	var workErr error
	_, err := guard("relay.deliverTx", func() (_ struct{}, err error) {
		recorded, workErr, err = session.DeliverTx(ctx, o, func(ctx context.Context, tx any) error {
			return delivery.AttemptTx(ctx, h, tx, r.attempt.Envelope)
		})
		return struct{}{}, err
	})
	switch {
	case workErr != nil:
		r.attempt.Err = workErr
	case err != nil:
		r.attempt.Err = err // rolled back, or unknown: the settlement that follows is fenced
	default:
		r.inTx, r.attempt.Recorded = true, recorded
	}
}

// waves delivers the runs of a job together: the first entries of all runs, then the
// second entries of those runs whose first was delivered, and so on.
func (w *worker) waves(ctx context.Context, j *job, h delivery.BatchHandler) {
	live := j.all()
	for depth := 0; len(live) > 0; depth++ {
		if w.stopping() || ctx.Err() != nil {
			for _, run := range live {
				w.tell(j, j.put(false, skipped(run[depth:], unstarted)...))
			}
			return
		}
		results := w.wave(ctx, j, h, live, depth)
		var next [][]*entry
		for i, run := range live {
			switch {
			case results[i].attempt.Err != nil:
				results = append(results, skipped(run[depth+1:], behind)...)
			case len(run) > depth+1:
				next = append(next, run)
			}
		}
		w.tell(j, j.put(false, results...))
		live = next
	}
}

// wave attempts the entry at the given depth of each run and returns their results
// in the order of the runs.
func (w *worker) wave(ctx context.Context, j *job, h delivery.BatchHandler, runs [][]*entry, depth int) []result {
	started := time.Now()
	current := make([]*entry, len(runs))
	for i, run := range runs {
		current[i] = run[depth]
	}
	if j.begin(started, current...) {
		w.tell(j, true)
	}
	ctx, cancel := context.WithTimeout(ctx, w.cfg.DeliveryTimeout)
	defer cancel()
	results, attempts := make([]result, len(runs), 2*len(runs)), make([]Attempt, len(runs))
	batch := make([]delivery.Envelope, 0, len(runs))
	at := make([]int, 0, len(runs)) // where the i-th of the batch belongs
	for i, run := range runs {
		a := &attempts[i]
		results[i] = result{entry: run[depth], attempt: a}
		a.Started = started
		if a.Envelope, a.Err = w.envelope(ctx, h, run[depth]); a.Err == nil {
			batch, at = append(batch, a.Envelope), append(at, i)
		}
	}
	if len(batch) > 0 {
		for k, err := range delivery.AttemptBatch(ctx, h, batch) {
			attempts[at[k]].Err = err
		}
	}
	took := time.Since(started)
	for i := range attempts {
		attempts[i].Duration = took
	}
	return results
}

// envelope prepares an attempt. A row that cannot be read is a failed attempt like
// any other: it is bounded by the row's attempts and harms nobody else.
func (w *worker) envelope(ctx context.Context, h delivery.Handler, e *entry) (env delivery.Envelope, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &delivery.PanicError{Value: v}
		}
	}()
	env, dropped, err := delivery.EnvelopeOf(e.record)
	if err != nil {
		return env, err
	}
	for _, key := range dropped {
		w.cfg.Logger.WarnContext(ctx, "header dropped: its stored value is null", "entry", e.record.ID, "header", key)
	}
	return env, delivery.CheckFingerprint(ctx, h, &env)
}

func inTx(h delivery.TxHandler, e delivery.Envelope) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false // Deliver will show what is wrong with it
		}
	}()
	return h.InTx(e)
}

// skipped returns results for entries that were not attempted. Only the first of an
// untried run is unstarted: the others stay behind it.
func skipped(rest []*entry, f fate) []result {
	out := make([]result, len(rest))
	for i, e := range rest {
		out[i] = result{entry: e, fate: f}
		f = behind
	}
	return out
}
