package claim

import (
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
)

// Reason says what was wrong with the result of a scope's supplier.
type Reason string

// The reasons for which a supplier's result is refused.
const (
	// SupplierFailed: the supplier panicked.
	SupplierFailed Reason = "supplier or its result failed"
	// NilSet: the supplier, or what it returned, was nil.
	NilSet Reason = "produced a nil target set"
	// BlankElement: a target was empty or white space only.
	BlankElement Reason = "contains an empty or blank element"
	// ElementTooLong: a target had more than MaxTargetLength characters.
	ElementTooLong Reason = "element exceeds maximum length of 255"
	// TooManyTargets: there were more than MaxTargets targets.
	TooManyTargets Reason = "target set exceeds limit of 10000"
	// Malformed: a target holds bytes that no stored destination can hold.
	Malformed Reason = "contains an element that is not valid text"
)

// Bounds of a target set.
const (
	// MaxTargets is the largest number of targets of one scope.
	MaxTargets = 10_000
	// MaxTargetLength is the longest target, in characters.
	MaxTargetLength = destination.MaxNameLength
)

// Error says that a scope could not be resolved. It names the type and the reason
// and nothing else: no target, and no cause, so that logging it in full reveals
// nothing. It is a mistake in a handler, not a fault of the store, and is never
// wrapped in a fault.Persistence.
type Error struct {
	// Type is the destination type whose scope it is.
	Type destination.Type
	// Reason says what was wrong with what the supplier returned.
	Reason Reason
}

// Error implements error. The text is safe for logs.
func (e *Error) Error() string {
	return fmt.Sprintf("satchel: claim scope of type %s: %s", e.Type, e.Reason)
}
