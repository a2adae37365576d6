package delivery

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
)

// Registry is a checked set of handlers, one for each destination type. It does not
// change; the zero value serves nothing.
type Registry struct{ byType map[destination.Type]Handler }

// NewRegistry checks the handlers and returns all problems joined, each a
// *fault.Invalid: a nil handler, a malformed type, a nil scope, or two handlers of one
// type, both named. No handlers is no problem.
func NewRegistry(handlers ...Handler) (*Registry, error) {
	r := &Registry{byType: make(map[destination.Type]Handler, len(handlers))}
	var problems []error
	for i, h := range handlers {
		if absent.Is(h) {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("handler %d", i), "is nil"))
			continue
		}
		t := h.Type()
		if err := t.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("handler %d (%T): %w", i, h, err))
			continue
		}
		if h.Scope() == nil {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("handler of type %s (%T)", t, h), "has a nil claim scope"))
			continue
		}
		if first, taken := r.byType[t]; taken {
			problems = append(problems, fault.NewInvalid("destination type "+string(t), fmt.Sprintf("has two handlers: %T and %T", first, h)))
			continue
		}
		r.byType[t] = h
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return r, nil
}

// Handler returns the handler of a type; false means that there is none.
func (r *Registry) Handler(t destination.Type) (Handler, bool) {
	h, ok := r.byType[t]
	return h, ok
}

// Capabilities returns the handlers' scopes.
func (r *Registry) Capabilities() claim.Capabilities {
	caps := make(claim.Capabilities, len(r.byType))
	for t, h := range r.byType {
		caps[t] = h.Scope()
	}
	return caps
}
