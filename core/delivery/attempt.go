package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/satchel-go/satchel/core/fault"
)

// PanicError is the error of an attempt whose handler panicked. Its text holds the
// type of the panic value only, since the value may quote a payload.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the goroutine at that moment.
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("satchel: handler panicked with a %T", e.Value)
}

// Attempt calls h for one entry and turns a panic, runtime.Goexit aside, into a
// retryable *PanicError. Any other error is the handler's, as it is.
func Attempt(ctx context.Context, h Handler, e Envelope) (err error) {
	defer caught(&err)
	return h.Deliver(ctx, e)
}

// AttemptTx is [Attempt] for a TxHandler inside a transaction.
func AttemptTx(ctx context.Context, h TxHandler, tx any, e Envelope) (err error) {
	defer caught(&err)
	return h.DeliverTx(ctx, tx, e)
}

// AttemptBatch calls h for several entries and always returns one result for each: a
// panic, or a number of results that is not that of the entries, fails all of them.
func AttemptBatch(ctx context.Context, h BatchHandler, batch []Envelope) (results []error) {
	err := func() (err error) {
		defer caught(&err)
		results = h.DeliverBatch(ctx, batch)
		return nil
	}()
	if err == nil && len(results) == len(batch) {
		return results
	}
	if err == nil {
		err = fmt.Errorf("satchel: handler returned %d results for %d entries", len(results), len(batch))
	}
	all := make([]error, len(batch))
	for i := range all {
		all[i] = err
	}
	return all
}

// ErrFingerprint is wrapped by the error of an attempt that was not made because
// the entry was stored for another physical destination.
var ErrFingerprint = errors.New("satchel: stored for a destination with another fingerprint")

// CheckFingerprint returns an unresolvable error that wraps [ErrFingerprint] when the
// entry was stored for another physical destination than the one h is connected to,
// and nil when either side does not know. A panic of h is a *PanicError.
func CheckFingerprint(ctx context.Context, h Handler, e *Envelope) (err error) {
	f, ok := h.(Fingerprinter)
	if !ok {
		return nil
	}
	want := e.Fingerprint()
	if want == "" {
		return nil
	}
	defer caught(&err)
	if have := f.Fingerprint(ctx, e.Destination); have != "" && have != want {
		return Unresolvable(fmt.Errorf("%w (destination type %s)", ErrFingerprint, e.DestinationType))
	}
	return nil
}

func caught(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// ErrorType names the type of an attempt's error for the record: the first type in
// its chain that says more than that it wraps something.
func ErrorType(err error) string {
	for err != nil {
		name := fmt.Sprintf("%T", err)
		switch name {
		case "*delivery.verdictError", "*fmt.wrapError", "*errors.joinError", "*fmt.wrapErrors":
			if inner := errors.Unwrap(err); inner != nil {
				err = inner
				continue
			}
		}
		return fault.Clean(name, 500)
	}
	return ""
}
