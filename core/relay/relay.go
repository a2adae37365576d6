package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
	"github.com/satchel-go/satchel/core/outbox"
)

// Relay takes committed entries from a store to the handlers of their destinations.
// Create it with [New]. One of Run, RunOnce and Drain runs at a time; Wake and Owner are
// safe for concurrent use.
type Relay struct {
	cfg      Config
	store    Store
	handlers *delivery.Registry
	wake     chan struct{} // capacity 1: hints coalesce
	running  atomic.Bool
}

// ErrRunning is returned when a relay is started while it runs.
var ErrRunning = errors.New("satchel: the relay is already running")

// New checks the handlers and the configuration and returns all problems joined, each
// a *fault.Invalid. It does no I/O. A relay without handlers is allowed and claims nothing.
func New(store Store, handlers []delivery.Handler, cfg Config) (*Relay, error) {
	registry, handlersErr := delivery.NewRegistry(handlers...)
	var storeErr error
	if absent.Is(store) {
		storeErr = fault.NewInvalid("relay store", "is nil")
	}
	if err := errors.Join(storeErr, handlersErr, cfg.Validate()); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Relay{cfg: cfg, store: store, handlers: registry, wake: make(chan struct{}, 1)}, nil
}

// Owner returns the name by which this relay is known in the store.
func (r *Relay) Owner() string { return r.cfg.Owner }

// Wake hints that there may be new entries, for example right after a commit in the
// same process. It never blocks; hints coalesce, and a hint is never needed.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run delivers entries until ctx ends, then stops in order: no more claims; what was
// claimed and not started goes back at once; running handlers get DrainTimeout to
// finish, then their contexts end; every outcome is recorded. It returns nil after a
// clean stop, a *StuckError when handlers did not return, and ErrRunning when the
// relay runs already. A store that fails never ends Run. It may be called again.
//
// No goroutine outlives Run, except those of handlers that ignore their context.
func (r *Relay) Run(ctx context.Context) error {
	_, err := r.start(ctx, plan{})
	return err
}

// RunOnce makes one claim of at most limit entries, from 1 to [MaxBatchSize] and
// whatever [Config.BatchSize] is, delivers them, and returns how many attempts were made.
// It is meant for tests and for hosts with a scheduler of their own.
//
// The number is valid also with an error: a *fault.Invalid for the limit, that of a
// store which refused the claim, a *claim.Error, ctx.Err() when ctx ended first, or what
// Run returns. A handler that fails is no error.
func (r *Relay) RunOnce(ctx context.Context, limit int) (attempts int, err error) {
	if limit < 1 || limit > MaxBatchSize {
		return 0, fault.NewInvalid("relay limit", fmt.Sprintf("is not between 1 and %d", MaxBatchSize))
	}
	return r.start(ctx, plan{limit: limit})
}

// Drain delivers until nothing that is due is left and returns how many attempts
// were made. Entries that wait for a later time, for another node, or behind such an
// entry do not keep it. An entry that fails is tried again only if its backoff ends
// while others are still delivered. Errors are as with [Relay.RunOnce].
func (r *Relay) Drain(ctx context.Context) (attempts int, err error) {
	return r.start(ctx, plan{untilDry: true})
}

// plan says when a loop ends by itself.
type plan struct {
	limit    int  // after one claim of this size
	untilDry bool // once a claim finds nothing
}

func (p plan) forever() bool { return p.limit == 0 && !p.untilDry }

func (r *Relay) start(ctx context.Context, p plan) (attempts int, err error) {
	if !r.running.CompareAndSwap(false, true) {
		return 0, ErrRunning
	}
	defer r.running.Store(false)
	l := newLoop(r, p)
	err = l.run(ctx)
	return l.attempts, err
}

// StuckError says that handlers did not return although their context had ended.
// Their goroutines still run; their entries stay leased until the lease expires, and
// are then delivered again.
type StuckError struct {
	// Entries are the entries being handled.
	Entries []outbox.ID
}

// Error implements error.
func (e *StuckError) Error() string {
	return fmt.Sprintf("satchel: relay stopped with %d entries whose handlers did not return: %v", len(e.Entries), e.Entries)
}
