package webhook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/fault"
)

// Source supplies a handler with its endpoints. [Registry] is one; an application
// with its own store of endpoints can be another.
//
// Both methods are called often, from several goroutines, and must answer from
// memory. What they return is validated on every use, so a source cannot make a
// handler send anything that a registry would refuse.
type Source interface {
	// IDs returns the ids of all endpoints that this node can deliver to; not nil. It
	// is the supplier of the handler's claim scope.
	IDs() []string
	// Endpoint returns the endpoint with an id. What it shares with the result must
	// not change any more.
	Endpoint(id string) (Endpoint, bool)
}

// Registry is a set of endpoints that can change while a relay runs. The zero
// value is empty and ready to use; a Registry is safe for concurrent use and must
// not be copied.
type Registry struct {
	mu   sync.RWMutex
	byID map[string]Endpoint
}

var _ Source = (*Registry)(nil)

// NewRegistry returns a registry of the given endpoints, or all their problems joined.
func NewRegistry(endpoints ...Endpoint) (*Registry, error) {
	r := new(Registry)
	if err := r.Set(endpoints...); err != nil {
		return nil, err
	}
	return r, nil
}

// Set adds endpoints, and replaces those that are there already under the same id:
// all of them, or, if any has a problem, none. All problems are returned joined;
// each is a *fault.Invalid under the position of its endpoint in the call.
func (r *Registry) Set(endpoints ...Endpoint) error {
	var problems []error
	seen := make(map[string]int, len(endpoints))
	for i, e := range endpoints {
		if err := e.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("webhook endpoint %d: %w", i, err))
		}
		if first, twice := seen[e.ID]; twice {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("webhook endpoint %d: id", i), fmt.Sprintf("is that of endpoint %d", first)))
			continue
		}
		seen[e.ID] = i
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sizeWith(seen) > claim.MaxTargets {
		problems = append(problems, fault.NewInvalid("webhook endpoints", "are more than 10000"))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if r.byID == nil {
		r.byID = make(map[string]Endpoint, len(endpoints))
	}
	for _, e := range endpoints {
		r.byID[e.ID] = e.clone()
	}
	return nil
}

// sizeWith is the number of endpoints once those with the given ids are added.
func (r *Registry) sizeWith(ids map[string]int) int {
	n := len(r.byID)
	for id := range ids {
		if _, known := r.byID[id]; !known {
			n++
		}
	}
	return n
}

// Remove takes endpoints out; ids that are not there are ignored. Entries for them
// wait until the endpoint is back, here or on another node. Requests on their way
// are not interrupted.
func (r *Registry) Remove(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		delete(r.byID, id)
	}
}

// IDs implements [Source]: in no particular order, and empty rather than nil.
func (r *Registry) IDs() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	ids := make([]string, 0, len(r.byID))
	return slices.AppendSeq(ids, maps.Keys(r.byID))
}

// Endpoint implements [Source]. The result is the registry's own: it must not be changed.
func (r *Registry) Endpoint(id string) (Endpoint, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.byID[id]
	return e, ok
}
