package delayedjob

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/propagation"
)

// The whole way: publish, deliver, run.
func TestPublishedJobRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	set := propagation.NewSet(nil, propagation.Standard()...)
	q, tx := s.queue(t), &memory{}
	job := MustJob[invoice]("invoice.send", Defaults{Queue: q, Priority: 2})
	m := newMux(t, MuxConfig{Propagation: set})
	type seen struct {
		in                     invoice
		id, correlation, trace string
	}
	ran := make(chan seen, 1)
	register(t, m, job.ID(), func(ctx context.Context, in invoice) error {
		id, _ := MessageID(ctx)
		ran <- seen{in, id.String(), propagation.From(ctx, propagation.Correlation), propagation.From(ctx, propagation.TraceParent)}
		return nil
	})
	s.work(t, q, m)

	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx := propagation.With(propagation.With(t.Context(), propagation.Correlation, "12345"), propagation.TraceParent, trace)
	if _, err := Publish(ctx, newPublisher(t, nil), tx, job, invoice{Order: 7}); err != nil {
		t.Fatal(err)
	}
	e := tx.last(t)
	deliver(t, s.handler(t, nil, m.IDs()...), e)
	select {
	case got := <-ran:
		if want := (seen{invoice{7}, e.MessageID.String(), "12345", trace}); got != want {
			t.Errorf("the job saw %+v, want %+v", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the job did not run")
	}
}

// The snapshot counts runs, asynq counts retries.
func TestMaxAttemptsIsTheNumberOfRuns(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 3} {
		s := newServer(t)
		q, h := s.queue(t), s.handler(t, nil, "a")
		var runs atomic.Int64
		s.work(t, q, asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
			runs.Add(1)
			return errors.New("always fails")
		}))
		e := envelope("a", Snapshot{q, 0, attempts})
		deliver(t, h, e)
		eventually(t, "the task is archived", func() bool {
			info := s.info(h, q, e.MessageID)
			return info != nil && info.State == asynq.TaskStateArchived
		})
		deliver(t, h, e) // late, must not start it over
		if got := runs.Load(); got != int64(attempts) {
			t.Errorf("max attempts %d: %d runs", attempts, got)
		}
	}
}

func TestUndecodablePayloadIsArchivedAfterOneRun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, h := s.queue(t), s.handler(t, nil, "a")
	m := newMux(t, MuxConfig{})
	register(t, m, "a", func(context.Context, string) error { t.Error("the job ran"); return nil })
	s.work(t, q, m)
	e := envelope("a", Snapshot{q, 0, 9})
	deliver(t, h, e)
	eventually(t, "the task is archived", func() bool {
		info := s.info(h, q, e.MessageID)
		return info != nil && info.State == asynq.TaskStateArchived && info.Retried == 0
	})
}

// asynq cuts due times to whole seconds; no job may start before its time for that.
func TestScheduledJobsNeverRunEarly(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, h := s.queue(t), s.handler(t, nil, "a")
	var mu sync.Mutex
	started := map[string]time.Time{}
	s.work(t, q, asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		mu.Lock()
		defer mu.Unlock()
		started[task.Headers()["satchel-message-id"]] = time.Now()
		return nil
	}))
	due := map[string]time.Time{}
	for range 20 {
		e := envelope("a", Snapshot{q, 0, 1})
		e.ScheduledAt = time.Now().Add(time.Second + time.Duration(rand.Int64N(int64(2*time.Second))))
		due[e.MessageID.String()] = e.ScheduledAt
		deliver(t, h, e)
	}
	eventually(t, "all jobs ran", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(started) == len(due)
	})
	for id, at := range due {
		if started[id].Before(at) {
			t.Errorf("a job ran %v early", at.Sub(started[id]))
		}
	}
}

// While servers are busy, a queue's share follows its weight; a queue that no server
// lists is not touched.
func TestServersWorkOffEveryBand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, h := s.queue(t), s.handler(t, nil, "a")
	var mu sync.Mutex
	queues := map[string]int{}
	s.work(t, q, asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error {
		name, _ := asynq.GetQueueName(ctx)
		mu.Lock()
		defer mu.Unlock()
		queues[name]++
		return nil
	}))
	for _, priority := range []int{-3, -1, 0, 1, 8, 9} {
		deliver(t, h, envelope("a", Snapshot{q, priority, 1}))
	}
	eventually(t, "all jobs ran", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return queues[q+":low"] == 2 && queues[q] == 1 && queues[q+":high"] == 3
	})
}
