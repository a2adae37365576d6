package service

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/fault"
)

// Registry holds the operations that this node handles. It may be changed while a
// relay runs: the next claim follows. The zero value is empty and ready to use; a
// Registry is safe for concurrent use and must not be copied. Operations are added with
// [Handle] and [HandleTx].
type Registry struct {
	// now is replaced as a whole by each change, so that a delivery takes no lock; nil
	// before the first.
	now atomic.Pointer[table]

	change   sync.Mutex // held by those who replace now
	problems []error    // of registrations before the first NewHandler
	built    bool
}

// table is one state of a registry; immutable.
type table struct {
	routes map[string]*route   // by target: ids and aliases
	paused map[string]struct{} // ids of operations
	live   []string            // the targets of operations that are not paused, sorted
}

// empty is the table of a registry that was never changed. A claim scope refuses nil.
var empty = &table{live: []string{}}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{} }

// table returns the current state.
func (reg *Registry) table() *table { return cmp.Or(reg.now.Load(), empty) }

// Remove takes an operation out, with its aliases, and reports whether it was there.
// Calls that run are not interrupted. Entries that were claimed before are not charged
// an attempt; they wait for a node that has the operation.
func (reg *Registry) Remove(id string) bool {
	return reg.update(func(t *table) bool {
		r, ok := t.operation(id)
		if !ok {
			return false
		}
		for _, target := range r.targets {
			delete(t.routes, target)
		}
		delete(t.paused, id)
		return true
	})
}

// Pause stops this node from claiming entries of an operation, without an effect on
// other nodes, and reports whether the operation is registered. Entries that were
// claimed before go back without being charged an attempt.
func (reg *Registry) Pause(id string) bool {
	return reg.update(func(t *table) bool {
		if _, ok := t.operation(id); !ok {
			return false
		}
		t.paused[id] = struct{}{}
		return true
	})
}

// Resume ends a pause and reports whether the operation is registered.
func (reg *Registry) Resume(id string) bool {
	return reg.update(func(t *table) bool {
		_, ok := t.operation(id)
		delete(t.paused, id)
		return ok
	})
}

// Targets returns the ids, aliases included, of the operations that are not paused,
// sorted. It is what the node claims.
func (reg *Registry) Targets() []string { return slices.Clone(reg.table().live) }

// lookup returns the route of a target, or ErrUnknownTarget or ErrPaused.
func (reg *Registry) lookup(target string) (*route, error) {
	t := reg.table()
	r, ok := t.routes[target]
	if !ok {
		return nil, ErrUnknownTarget
	}
	if _, paused := t.paused[r.operation]; paused {
		return nil, ErrPaused
	}
	return r, nil
}

// add registers r unless there are problems with it, and remembers all problems until
// the registry is built.
func (reg *Registry) add(r *route, problems error) error {
	if reg == nil {
		return errors.Join(problems, fault.NewInvalid("service registry", "is nil"))
	}
	err := problems
	if err == nil {
		reg.update(func(t *table) bool {
			err = t.add(r)
			return err == nil
		})
	}
	if err != nil {
		reg.change.Lock()
		defer reg.change.Unlock()
		if !reg.built {
			reg.problems = append(reg.problems, err)
		}
	}
	return err
}

func (t *table) add(r *route) error {
	var problems []error
	for i, target := range r.targets {
		first, taken := t.routes[target]
		if slices.Contains(r.targets[:i], target) {
			first, taken = r, true
		}
		if taken {
			problems = append(problems, &DuplicateError{Target: target, First: first.describe(), Second: r.describe()})
		}
	}
	// A larger set would abort every claim cycle of the node.
	if len(t.routes)+len(r.targets) > claim.MaxTargets {
		problems = append(problems, fault.NewInvalid("service registry", "would have more than 10000 ids and aliases"))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for _, target := range r.targets {
		t.routes[target] = r
	}
	return nil
}

// build returns the problems collected so far; if there are none, it ends the time in
// which they are collected.
func (reg *Registry) build() error {
	reg.change.Lock()
	defer reg.change.Unlock()
	reg.built = len(reg.problems) == 0
	return errors.Join(reg.problems...)
}

// update replaces the table by a changed copy if change says that it changed it.
func (reg *Registry) update(change func(*table) bool) bool {
	reg.change.Lock()
	defer reg.change.Unlock()
	old := reg.table()
	t := &table{routes: maps.Clone(old.routes), paused: maps.Clone(old.paused), live: []string{}}
	if t.routes == nil {
		t.routes, t.paused = map[string]*route{}, map[string]struct{}{}
	}
	if !change(t) {
		return false
	}
	for target, r := range t.routes {
		if _, paused := t.paused[r.operation]; !paused {
			t.live = append(t.live, target)
		}
	}
	slices.Sort(t.live)
	reg.now.Store(t)
	return true
}

// operation returns the route whose own id is id; an alias does not count.
func (t *table) operation(id string) (*route, bool) {
	r, ok := t.routes[id]
	return r, ok && r.operation == id
}
