package delayedjob

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/delivery"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&net.OpError{Op: "dial", Err: context.DeadlineExceeded}: true,
		&net.OpError{Op: "read", Err: context.DeadlineExceeded}: false,
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}:       true,
		io.EOF:               true,
		redis.ErrClosed:      true,
		redis.ErrPoolTimeout: false,
		redis.ErrNoScript:    false,
		context.Canceled:     false,
	} {
		if got := unreachable(err); got != want {
			t.Errorf("%v: unreachable is %v", err, got)
		}
	}
}

// overdue is a context whose deadline has passed and whose timer has not fired.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A connection gives up at the deadline of the context, and can do so before the
// context itself: a time-out must not look like a Redis that is down.
func TestDeadlineAheadOfItsTimer(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	s.mini.Close()
	err := h.Deliver(overdue{t.Context()}, envelope("a", Snapshot{"q", 0, 1}))
	wantVerdict(t, err, delivery.VerdictRetryable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the deadline inside", err)
	}
}

// endingPing ends the attempt's context while Redis is asked whether it is there.
type endingPing struct{ end context.CancelFunc }

func (endingPing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (endingPing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (e endingPing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() != "ping" {
			return next(ctx, cmd)
		}
		e.end()
		err := &net.OpError{Op: "dial", Err: context.Canceled}
		cmd.SetErr(err)
		return err
	}
}

func TestContextThatEndsDuringThePing(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.client.AddHook(endingPing{cancel})
	h := s.handler(t, nil, "a")
	s.mini.SetError("ERR anything")
	wantVerdict(t, h.Deliver(ctx, envelope("a", Snapshot{"q", 0, 1})), delivery.VerdictRetryable)
}
