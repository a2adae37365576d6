package delayedjob

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/fault"
)

// Registry is the live list of the job ids that a node may enqueue. The node needs
// not have the code of the jobs: it needs to be sure that some worker has. Entries
// for other ids are left to nodes that list them. The zero value is empty and ready
// to use; it is safe for concurrent use.
type Registry struct {
	mu  sync.RWMutex
	ids map[string]struct{}
}

// NewRegistry returns a registry that holds the given ids.
func NewRegistry(ids ...string) (*Registry, error) {
	r := &Registry{}
	if err := r.Add(ids...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add adds ids, all or none; one that is there already stays. A relay claims their
// entries from its next cycle on. Malformed ids, and more than 10,000 in all, are
// refused as *fault.Invalid.
func (r *Registry) Add(ids ...string) error {
	var problems []error
	for i, id := range ids {
		if reason := checkName(id, maxJobID); reason != "" {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("job id %d", i), reason))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := map[string]struct{}{}
	for _, id := range ids {
		if _, known := r.ids[id]; !known {
			fresh[id] = struct{}{}
		}
	}
	if len(r.ids)+len(fresh) > claim.MaxTargets {
		return fault.NewInvalid("job ids", "are more than 10000")
	}
	if r.ids == nil {
		r.ids = fresh
		return nil
	}
	for id := range fresh {
		r.ids[id] = struct{}{}
	}
	return nil
}

// Remove removes ids; one that is not there is no error. An entry that is claimed
// already comes back as unresolvable and waits for a node that lists its id.
func (r *Registry) Remove(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		delete(r.ids, id)
	}
}

// Has reports whether the id is listed.
func (r *Registry) Has(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.ids[id]
	return ok
}

// IDs returns the listed ids, sorted; never nil, since a claim scope refuses nil.
func (r *Registry) IDs() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	ids := make([]string, 0, len(r.ids))
	for id := range r.ids {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
