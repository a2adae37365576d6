package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

// Middleware surrounds every call of a handler's functions, decoding included. It
// calls next at most once and returns its error, or another one: what it returns is the
// outcome. Returning nil without a call of next means that the entry is delivered.
type Middleware func(ctx context.Context, m Message, next func(ctx context.Context) error) error

// Config adjusts a [Handler]. The zero value is ready to use.
type Config struct {
	// Middleware surrounds each call, the first one outermost.
	Middleware []Middleware
}

// Validate returns all problems joined, each a *fault.Invalid, or nil.
func (c Config) Validate() error {
	var problems []error
	for i, m := range c.Middleware {
		if m == nil {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("middleware %d", i), "is nil"))
		}
	}
	return errors.Join(problems...)
}

// Handler is the delivery.Handler of the destination type SERVICE.
type Handler struct {
	registry   *Registry
	middleware []Middleware
}

var _ delivery.TxHandler = (*Handler)(nil)

// NewHandler returns a handler for the operations of reg, which may be empty and may
// change later. It refuses to start while registrations in reg failed, and reports
// all of them joined; fix the program rather than try again.
func NewHandler(reg *Registry, cfg Config) (*Handler, error) {
	if reg == nil {
		return nil, fault.NewInvalid("service registry", "is nil")
	}
	if err := errors.Join(reg.build(), cfg.Validate()); err != nil {
		return nil, err
	}
	return &Handler{registry: reg, middleware: append([]Middleware(nil), cfg.Middleware...)}, nil
}

// Type returns SERVICE.
func (h *Handler) Type() destination.Type { return destination.Service }

// Scope is the set of operations that are registered and not paused, live.
func (h *Handler) Scope() claim.Scope { return claim.Targets(h.registry.Targets) }

// Deliver calls the function of the entry's operation.
func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	r, err := h.registry.lookup(e.Destination)
	switch {
	case err != nil:
		return delivery.Unresolvable(err)
	case r.run == nil:
		return delivery.Unresolvable(fmt.Errorf("operation %q: %w", r.operation, ErrNeedsTransaction))
	}
	return h.attempt(ctx, r, &e, func(ctx context.Context) error { return r.run(ctx, &e) })
}

// InTx reports whether the entry's operation was registered with [HandleTx].
func (h *Handler) InTx(e delivery.Envelope) bool {
	r, err := h.registry.lookup(e.Destination)
	return err == nil && r.runTx != nil
}

// DeliverTx calls the function of the entry's operation in tx.
func (h *Handler) DeliverTx(ctx context.Context, tx any, e delivery.Envelope) error {
	r, err := h.registry.lookup(e.Destination)
	switch {
	case err != nil:
		return delivery.Unresolvable(err)
	case r.runTx == nil:
		// The operation was replaced after InTx was asked: the next attempt is right.
		return delivery.Unresolvable(ErrUnknownTarget)
	}
	return h.attempt(ctx, r, &e, func(ctx context.Context) error { return r.runTx(ctx, tx, &e) })
}

// attempt makes the call with its message, timeout and middleware around it.
func (h *Handler) attempt(ctx context.Context, r *route, e *delivery.Envelope, call func(context.Context) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return err // the relay gave up before the work began
	}
	m := messageOf(r.operation, e)
	inner := context.WithValue(ctx, messageKey{}, m)
	if r.timeout > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(inner, r.timeout)
		defer cancel()
	}
	err := h.surround(inner, m, 0, call)
	// Only this timeout is named here: an end of ctx is the relay's to explain.
	if errors.Is(err, context.DeadlineExceeded) && inner.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("operation %q, %w (%s): %w", r.operation, ErrTimeout, r.timeout, err)
	}
	return err
}

// surround calls the middleware from the i-th on, and then call.
func (h *Handler) surround(ctx context.Context, m Message, i int, call func(context.Context) error) error {
	if i == len(h.middleware) {
		return call(ctx)
	}
	return h.middleware[i](ctx, m, func(ctx context.Context) error { return h.surround(ctx, m, i+1, call) })
}
