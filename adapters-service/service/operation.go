package service

import (
	"errors"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// Operation is a stable target id together with the Go type of its payload. It is
// immutable and shared by producers and consumers. The zero value is not valid.
//
// P is encoded as JSON, with two exceptions: outbox.Raw is delivered byte for byte
// with its content type, and json.RawMessage is a JSON document left as it is.
type Operation[P any] struct {
	id            string
	aliases       []string
	eventType     string
	aggregateType string
	aggregateID   func(P) string
}

// OperationOption adjusts an operation.
type OperationOption[P any] func(*Operation[P])

// WithAggregate orders the entries of an operation: those for which id returns the
// same text are handled one after another, also across operations and destinations.
// An empty text means no order for that entry. aggregateType describes the id and
// takes no part in the order.
func WithAggregate[P any](aggregateType string, id func(P) string) OperationOption[P] {
	return func(op *Operation[P]) { op.aggregateType, op.aggregateID = aggregateType, id }
}

// WithEventType sets the event type of an operation's entries; the default is the
// operation's id.
func WithEventType[P any](eventType string) OperationOption[P] {
	return func(op *Operation[P]) { op.eventType = eventType }
}

// NewOperation returns the operation with the given id, which is what the entries
// carry as their destination: 1 to 255 characters, without control characters. Give an
// id that outlives packages and type names, such as "billing.charge". A *fault.Invalid
// refuses the id, or a payload type that no entry can carry.
func NewOperation[P any](id string, opts ...OperationOption[P]) (Operation[P], error) {
	var problems []error
	if reason := checkID(id); reason != "" {
		problems = append(problems, fault.NewInvalid("operation id", reason))
	}
	if reason := checkPayloadType(reflect.TypeFor[P]()); reason != "" {
		problems = append(problems, fault.NewInvalid("operation payload type", reason))
	}
	if err := errors.Join(problems...); err != nil {
		return Operation[P]{}, err
	}
	op := Operation[P]{id: id, eventType: id}
	for _, opt := range opts {
		opt(&op)
	}
	return op, nil
}

// MustOperation is [NewOperation] for package variables: it panics instead of
// returning an error.
func MustOperation[P any](id string, opts ...OperationOption[P]) Operation[P] {
	op, err := NewOperation(id, opts...)
	if err != nil {
		panic(err)
	}
	return op
}

// Alias returns op with further ids under which its handler accepts entries: the ids
// it had before it was renamed. New entries always carry the id of op itself. A
// malformed alias is reported where the operation is handled.
func Alias[P any](op Operation[P], oldIDs ...string) Operation[P] {
	// The copy keeps two operations derived from one op apart.
	op.aliases = append(append([]string(nil), op.aliases...), oldIDs...)
	return op
}

// ID returns the operation's id.
func (op Operation[P]) ID() string { return op.id }

// String returns the operation's id.
func (op Operation[P]) String() string { return op.id }

// Entry returns the entry that sends payload to the operation. Use it with
// outbox.Publisher.PublishAll to send to several operations in one statement.
func (op Operation[P]) Entry(payload P, opts ...SendOption) outbox.Entry {
	e := outbox.Entry{
		DestinationType: destination.Service,
		Destination:     op.id,
		EventType:       op.eventType,
		Payload:         payload,
	}
	if op.aggregateID != nil {
		// Without an id the type would describe nothing.
		if e.AggregateID = op.aggregateID(payload); e.AggregateID != "" {
			e.AggregateType = op.aggregateType
		}
	}
	for _, opt := range opts {
		opt(&e)
	}
	return e
}

// checkID says why an id cannot be a target, or returns "".
func checkID(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "is blank"
	case !utf8.ValidString(id):
		return "is not valid UTF-8"
	case strings.ContainsFunc(id, unicode.IsControl):
		return "has a control character"
	case utf8.RuneCountInString(id) > claim.MaxTargetLength:
		return "is longer than 255 characters"
	}
	return ""
}

// checkPayloadType finds the types that could be sent but never received, or not even
// sent, at the start of the program instead of at the first entry.
func checkPayloadType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[*outbox.Raw]():
		return "is *outbox.Raw; use outbox.Raw"
	case t == reflect.TypeFor[[]byte]():
		return "is []byte; use outbox.Raw or json.RawMessage"
	case t.Kind() == reflect.Interface && t.NumMethod() > 0:
		return t.String() + " is an interface: JSON does not say which type to make"
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return t.String() + " has no JSON form"
	}
	return ""
}
