package maintenance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
)

// prepare is the common beginning of both jobs: it refuses what cannot be run and
// returns what is run with.
func prepare(store Store, cfg Config, logger *slog.Logger) (Config, *slog.Logger, error) {
	if absent.Is(store) {
		return cfg, nil, fault.NewInvalid("maintenance store", "is nil")
	}
	if err := cfg.Validate(); err != nil {
		return cfg, nil, err
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return cfg.withDefaults(), logger, nil
}

// guarded calls one method of a store, and makes an error of what a faulty store does
// to its caller: a panic, or a count that cannot be. Either costs one step of one run
// instead of the process.
func guarded(logger *slog.Logger, op string, call func() (count int, err error)) (count int, err error) {
	defer func() {
		if v := recover(); v != nil {
			// The value may quote a row; the stack only holds addresses.
			logger.Error("satchel: store panicked", "op", op, "stack", string(debug.Stack()))
			count, err = 0, &fault.Persistence{Op: op, Err: fmt.Errorf("store panicked with a %T", v)}
		}
	}()
	count, err = call()
	switch {
	case err != nil:
		return 0, named(op, err)
	case count < 0:
		return 0, &fault.Persistence{Op: op, Err: fmt.Errorf("store reported %d rows", count)}
	}
	return count, nil
}

// named returns the error of a store as one that says once what failed: a store's own
// errors do, by the port's contract, and what is none of them is named here.
func named(op string, err error) error {
	var persistence *fault.Persistence
	if errors.As(err, &persistence) || fault.IsInvalid(err) {
		return err
	}
	return &fault.Persistence{Op: op, Transient: fault.Retryable(err), Err: err}
}

// ended is how a run ended: what failed in it, and whether it was stopped.
type ended struct {
	failures []error
	stopped  error
}

// outcome sorts the errors of a run. A stop is named once, however many calls it cut
// short, and not at all when everything was done before it came.
func outcome(ctx context.Context, done bool, errs []error) ended {
	var e ended
	if !done {
		e.stopped = ctx.Err()
	}
	for _, err := range errs {
		if e.stopped == nil || !errors.Is(err, e.stopped) {
			e.failures = append(e.failures, err)
		}
	}
	return e
}

func (e ended) err() error { return errors.Join(errors.Join(e.failures...), e.stopped) }

// level is that of the line logged: an ordinary stop is no cause for alarm, work that
// was left for another reason is.
func (e ended) level(alarming bool, changed int) slog.Level {
	switch {
	case len(e.failures) > 0, alarming && e.stopped == nil:
		return slog.LevelWarn
	case e.stopped != nil, changed > 0:
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}

// attr is the error for the log; an empty attribute is left out by every handler.
func (e ended) attr() slog.Attr {
	if err := e.err(); err != nil {
		return slog.String("error", fault.Text(err))
	}
	return slog.Attr{}
}
