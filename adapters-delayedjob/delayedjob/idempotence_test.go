package delayedjob

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/delivery"
)

// An entry can be delivered again at any time, so its task is in any state by then.
// In none of them may there be a second task or a second run.
func TestDeliverAgainInEveryState(t *testing.T) {
	t.Parallel()
	for state, c := range map[asynq.TaskState]struct {
		attempts int
		delay    time.Duration
		worker   func(ctx context.Context, runs int64, leave <-chan struct{}) error // nil: no worker
	}{
		asynq.TaskStatePending:   {attempts: 1},
		asynq.TaskStateScheduled: {attempts: 1, delay: time.Hour},
		asynq.TaskStateActive: {attempts: 1, worker: func(ctx context.Context, _ int64, leave <-chan struct{}) error {
			<-leave
			return nil
		}},
		asynq.TaskStateRetry: {attempts: 5, worker: func(context.Context, int64, <-chan struct{}) error {
			return errors.New("fails")
		}},
		asynq.TaskStateArchived: {attempts: 1, worker: func(context.Context, int64, <-chan struct{}) error {
			return errors.New("fails")
		}},
		asynq.TaskStateCompleted: {attempts: 1, worker: func(context.Context, int64, <-chan struct{}) error {
			return nil
		}},
	} {
		t.Run(state.String(), func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h, q := s.handler(t, nil, "a"), s.queue(t)
			e := envelope("a", Snapshot{q, 0, c.attempts})
			if c.delay != 0 {
				e.ScheduledAt = time.Now().Add(c.delay)
			}
			deliver(t, h, e)

			var runs atomic.Int64
			leave := make(chan struct{})
			if c.worker != nil {
				srv := asynq.NewServerFromRedisClient(s.client, asynq.Config{
					Queues: Queues(q), LogLevel: asynq.FatalLevel, TaskCheckInterval: 5 * time.Millisecond,
					// A retry stays where it is, to be found in that state.
					RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
				})
				if err := srv.Start(asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error {
					return c.worker(ctx, runs.Add(1), leave)
				})); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(srv.Shutdown)
			}
			eventually(t, "the task is "+state.String(), func() bool {
				info := s.info(h, q, e.MessageID)
				return info != nil && info.State == state
			})
			for range 3 {
				e.Attempt++
				deliver(t, h, e)
			}
			info, err := s.inspector().GetQueueInfo(q)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size != 1 {
				t.Errorf("queue holds %d tasks, want one", info.Size)
			}
			if now := s.info(h, q, e.MessageID); now == nil || now.State != state {
				t.Errorf("the task is now %+v, want it still %s", now, state)
			}
			want := int64(0)
			if c.worker != nil {
				want = 1
			}
			// The state is active a moment before the function is called.
			eventually(t, "the job ran", func() bool { return runs.Load() >= want })
			close(leave)
			if got := runs.Load(); got != want {
				t.Errorf("the job ran %d times, want %d", got, want)
			}
		})
	}
}

// The retention is what keeps the id: the documented boundary.
func TestAfterTheRetentionTheIDIsFree(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h, q := s.handler(t, nil, "a"), "q"
	h.cfg.Retention = time.Second // shorter than what is accepted, to see its end
	e := envelope("a", Snapshot{q, 0, 1})
	var runs atomic.Int64
	srv := asynq.NewServerFromRedisClient(s.client, asynq.Config{
		Queues: Queues(q), LogLevel: asynq.FatalLevel, TaskCheckInterval: 5 * time.Millisecond, JanitorInterval: 50 * time.Millisecond,
	})
	if err := srv.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { runs.Add(1); return nil })); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)
	deliver(t, h, e)
	eventually(t, "the completed task is gone", func() bool { return runs.Load() == 1 && s.info(h, q, e.MessageID) == nil })
	deliver(t, h, e)
	eventually(t, "the job ran again", func() bool { return runs.Load() == 2 })
}

func TestConcurrentDeliveriesMakeOneTask(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h, q := s.handler(t, nil, "a"), s.queue(t)
	e := envelope("a", Snapshot{q, 0, 1})
	results := make(chan error, 16)
	for range cap(results) {
		go func() { results <- delivery.Attempt(t.Context(), h, e) }()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if info, err := s.inspector().GetQueueInfo(q); err != nil || info.Size != 1 {
		t.Errorf("queue holds %+v (%v), want one task", info, err)
	}
}
