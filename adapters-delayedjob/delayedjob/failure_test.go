package delayedjob

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/delivery"
)

// A Redis that is down is unavailable whether the handler has talked to it before or
// not: asynq reports the two cases in different ways.
func TestRedisDownIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, warm := range map[string]bool{"never connected": false, "connected before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMini(t)
			h := s.handler(t, nil, "a")
			if warm {
				deliver(t, h, envelope("a", Snapshot{"q", 0, 1}))
			}
			s.mini.Close()
			e := envelope("a", Snapshot{"q", 0, 1})
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				err := h.Deliver(ctx, e)
				cancel()
				wantVerdict(t, err, delivery.VerdictUnavailable)
				if !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("error is %v, want the refused connection inside", err)
				}
			}
			if err := s.mini.Restart(); err != nil {
				t.Fatal(err)
			}
			deliver(t, h, e)
			if s.info(h, "q", e.MessageID) == nil {
				t.Error("no task after Redis came back")
			}
		})
	}
}

// A Redis that answers is there: whatever it answers, the attempt is retryable.
func TestRedisErrorsAreRetryable(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"READONLY You can't write against a read only replica.",
		"OOM command not allowed when used memory > 'maxmemory'.",
		"LOADING Redis is loading the dataset in memory",
		"MASTERDOWN Link with MASTER is down",
		"CLUSTERDOWN The cluster is down",
		"NOAUTH Authentication required.",
		"ERR anything else",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			s := newMini(t)
			h := s.handler(t, nil, "a")
			deliver(t, h, envelope("a", Snapshot{"warm", 0, 1})) // otherwise only the first command is tested
			e := envelope("a", Snapshot{"q", 0, 1})
			for _, queue := range []string{"warm", "q"} {
				e := envelope("a", Snapshot{queue, 0, 1})
				s.mini.SetError(reply)
				wantVerdict(t, h.Deliver(t.Context(), e), delivery.VerdictRetryable)
			}
			s.mini.SetError("")
			deliver(t, h, e)
		})
	}
}

// A client that its owner has closed is no fault of the entry.
func TestClosedClientIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	_ = s.client.Close()
	err := h.Deliver(t.Context(), envelope("a", Snapshot{"q", 0, 1}))
	wantVerdict(t, err, delivery.VerdictUnavailable)
	if !errors.Is(err, redis.ErrClosed) {
		t.Errorf("error is %v, want redis.ErrClosed inside", err)
	}
}

// A time-out after the command was applied: nobody knows, so it is retryable, and the
// retry finds the task.
func TestAppliedButTimedOutEndsWithOneTask(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.queue(t)
	proxy := newProxy(t, s.options.Addr)
	options := s.options
	options.Addr, options.ReadTimeout = proxy.addr, 300*time.Millisecond
	client := redis.NewClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	h := s.handler(t, func(c *Config) { c.Client = client }, "a")
	deliver(t, h, envelope("a", Snapshot{q, 0, 1})) // the script is loaded, the queue is known

	e := envelope("a", Snapshot{q, 0, 1})
	proxy.mute.Store(true)
	wantVerdict(t, h.Deliver(t.Context(), e), delivery.VerdictRetryable)
	eventually(t, "the command was applied", func() bool { return s.info(h, q, e.MessageID) != nil })
	proxy.mute.Store(false)
	deliver(t, h, e)
	if info, err := s.inspector().GetQueueInfo(q); err != nil || info.Size != 2 {
		t.Errorf("queue holds %+v (%v), want the first task and one more", info, err)
	}
}

// A deadline ends an attempt even while Redis says nothing.
func TestDeadlineEndsTheAttempt(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	proxy := newProxy(t, s.options.Addr)
	options := s.options
	options.Addr, options.ReadTimeout = proxy.addr, time.Minute
	client := redis.NewClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	h := s.handler(t, func(c *Config) { c.Client = client }, "a")
	deliver(t, h, envelope("a", Snapshot{"q", 0, 1}))
	proxy.mute.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := h.Deliver(ctx, envelope("a", Snapshot{"q", 0, 1}))
	wantVerdict(t, err, delivery.VerdictRetryable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the deadline inside", err)
	}
}

// asynq registers a queue once for each client and never again; a Redis that came
// back empty must learn of it all the same, or no tool finds the tasks.
func TestQueueIsRegisteredAgainAfterDataLoss(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	deliver(t, h, envelope("a", Snapshot{"q", 0, 1}))
	s.mini.Close()
	wantVerdict(t, h.Deliver(t.Context(), envelope("a", Snapshot{"q", 0, 1})), delivery.VerdictUnavailable)
	s.mini.FlushAll()
	if err := s.mini.Restart(); err != nil {
		t.Fatal(err)
	}
	deliver(t, h, envelope("a", Snapshot{"q", 0, 1}))
	if queues, err := s.inspector().Queues(); err != nil || !slices.Equal(queues, []string{"q"}) {
		t.Errorf("queues are %v (%v)", queues, err)
	}
}
