package service

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknownTarget is wrapped by the outcome of an entry whose operation is not
	// registered here. The outcome is unresolvable: another node may host it.
	ErrUnknownTarget = errors.New("operation is not registered here")
	// ErrPaused is wrapped by the unresolvable outcome of an entry whose operation is
	// paused here.
	ErrPaused = errors.New("operation is paused here")
	// ErrNeedsTransaction is wrapped by the unresolvable outcome of an entry whose
	// operation was registered with HandleTx, on a relay whose store cannot give the
	// transaction.
	ErrNeedsTransaction = errors.New("operation works in the settling transaction, which this relay does not offer")
	// ErrTimeout is wrapped, beside the handler's own error, by the error of a handler
	// that failed because HandlerOptions.Timeout was over.
	ErrTimeout = errors.New("handler's timeout was over")
)

// DuplicateError says that two registrations want the same target id.
type DuplicateError struct {
	// Target is the id, possibly an alias.
	Target string
	// First and Second describe the registrations: operation and function.
	First, Second string
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("satchel: service target %q is registered twice: by %s and by %s", e.Target, e.First, e.Second)
}

// DecodeError says that a payload is not what the operation expects. It holds nothing
// of the payload, and no cause that might quote it.
type DecodeError struct {
	// Operation is the id of the operation.
	Operation string
	// GoType is the payload type that was expected.
	GoType string
	// Reason completes the sentence "payload ...": a kind and an offset, no content.
	Reason string
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("operation %q expects %s: payload %s", e.Operation, e.GoType, e.Reason)
}

// TxTypeError says that the relay's store runs transactions of another type than the
// operation's function was written for: a mistake in the wiring of the program. The
// outcome is unresolvable, so that no entry is lost over it.
type TxTypeError struct {
	// Operation is the id of the operation.
	Operation string
	// Want is the function's transaction type, Have the relay's.
	Want, Have string
}

// Error implements error.
func (e *TxTypeError) Error() string {
	return fmt.Sprintf("operation %q works in a transaction of type %s, the relay's store gives %s", e.Operation, e.Want, e.Have)
}
