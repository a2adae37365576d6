package service

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
)

// MaxTimeout is the longest timeout of an operation, 366 days: that of a relay's own
// delivery timeout, beyond which it would never be over.
const MaxTimeout = 366 * 24 * time.Hour

// HandlerOptions adjust how an operation is handled. The zero value is ready to use.
type HandlerOptions struct {
	// Timeout bounds one call through its context; 0 means the relay's own delivery
	// timeout alone, at most [MaxTimeout]. A function that ignores its context is not
	// interrupted, and what it returns counts.
	Timeout time.Duration
}

// route is a registered operation.
type route struct {
	operation string
	// targets are the operation's id and its aliases.
	targets []string
	// function is the name of the function, for messages.
	function string
	timeout  time.Duration
	// Exactly one of the two is set.
	run   func(ctx context.Context, e *delivery.Envelope) error
	runTx func(ctx context.Context, tx any, e *delivery.Envelope) error
}

func (r *route) describe() string { return fmt.Sprintf("operation %q (%s)", r.operation, r.function) }

// Handle registers fn for op in reg, from now on. fn is called from several goroutines
// at once, though never for two entries of one aggregate at a time, and can be called
// again for an entry that it finished before.
//
// An error refuses the registration: a *DuplicateError for an id or alias that is
// taken, else a *fault.Invalid, possibly several joined. Until a handler is built from
// reg its problems are also collected there and reported by [NewHandler], so a program
// that registers everything at its start needs to look only once.
func Handle[P any](reg *Registry, op Operation[P], fn func(ctx context.Context, payload P) error, opts HandlerOptions) error {
	r := newRoute(op, fn, opts)
	r.run = func(ctx context.Context, e *delivery.Envelope) error {
		payload, err := decode[P](op.id, e)
		if err != nil {
			return err
		}
		return fn(ctx, payload)
	}
	return reg.add(r, problemsOf(op, fn == nil, opts))
}

// HandleTx registers fn for op in reg as [Handle] does, to run inside the database
// transaction that settles its entry. What fn writes through tx is committed together
// with the entry's outcome, if and only if fn returns nil: in that database the effect
// happens exactly once. fn must not end tx, and should be quick, since tx is open
// meanwhile. Tx is the transaction type of the relay's store, for example pgx.Tx.
func HandleTx[P, Tx any](reg *Registry, op Operation[P], fn func(ctx context.Context, tx Tx, payload P) error, opts HandlerOptions) error {
	r := newRoute(op, fn, opts)
	r.runTx = func(ctx context.Context, tx any, e *delivery.Envelope) error {
		typed, ok := tx.(Tx)
		if !ok {
			return delivery.Unresolvable(&TxTypeError{
				Operation: op.id, Want: reflect.TypeFor[Tx]().String(), Have: fmt.Sprintf("%T", tx),
			})
		}
		payload, err := decode[P](op.id, e)
		if err != nil {
			return err
		}
		return fn(ctx, typed, payload)
	}
	return reg.add(r, problemsOf(op, fn == nil, opts))
}

func newRoute[P any](op Operation[P], fn any, opts HandlerOptions) *route {
	return &route{
		operation: op.id,
		targets:   append([]string{op.id}, op.aliases...),
		function:  functionName(fn),
		timeout:   opts.Timeout,
	}
}

func problemsOf[P any](op Operation[P], noFunction bool, opts HandlerOptions) error {
	var problems []error
	refuse := func(what, reason string) {
		problems = append(problems, fault.NewInvalid(fmt.Sprintf("operation %q: %s", fault.Clean(op.id, 255), what), reason))
	}
	if reason := checkID(op.id); reason != "" {
		refuse("id", reason+"; make operations with NewOperation")
	}
	for _, alias := range op.aliases {
		if reason := checkID(alias); reason != "" {
			refuse("alias", reason)
		}
	}
	if noFunction {
		refuse("function", "is nil")
	}
	if opts.Timeout < 0 || opts.Timeout > MaxTimeout {
		refuse("timeout", "is negative or longer than 366 days")
	}
	return errors.Join(problems...)
}

// functionName tells two registrations of one operation apart in a message.
func functionName(fn any) string {
	if v := reflect.ValueOf(fn); !v.IsNil() {
		if f := runtime.FuncForPC(v.Pointer()); f != nil {
			return f.Name()
		}
	}
	return "no function"
}
