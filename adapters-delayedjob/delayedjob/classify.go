package delayedjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/delivery"
)

// classify gives a failed enqueue its verdict. It must not look at err for that:
// asynq turns most errors of Redis into text. So it asks Redis itself, in the same
// way and within the same context: what matters is whether Redis can be reached.
func (h *Handler) classify(ctx context.Context, err error) error {
	if cause := ended(ctx); cause != nil {
		return fmt.Errorf("enqueue interrupted: %w (%w)", cause, err)
	}
	err = fmt.Errorf("enqueue: %w", err)
	if ping := h.cfg.Client.Ping(ctx).Err(); ping != nil && ended(ctx) == nil && unreachable(ping) {
		return delivery.Unavailable(fmt.Errorf("%w; redis cannot be reached: %w", err, ping))
	}
	return err
}

// ended is ctx.Err, except that it does not wait for the context's timer: the
// connection has the same deadline and can be a moment ahead of it.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// unreachable reports whether err says that there is no Redis to talk to, rather than
// one that refuses or is slow. A time-out on an open connection is the latter.
func unreachable(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	for _, gone := range []error{io.EOF, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, redis.ErrClosed} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
