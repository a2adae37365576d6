package claim

import (
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/internal/text"
)

// Capabilities are the scopes of a node's handlers, by destination type.
type Capabilities map[destination.Type]Scope

// Snapshot is what a node can deliver at one moment: the scopes with their
// suppliers already run and validated. It is immutable. The zero value claims nothing.
type Snapshot struct {
	types []TypeScope // sorted by type, none of them empty
}

// TypeScope is the part of a [Snapshot] for one destination type.
type TypeScope struct {
	// Type is the destination type.
	Type destination.Type
	// All says that every destination except those in Except is meant.
	All bool
	// Targets are the destinations meant when All is false: sorted, distinct, not empty.
	Targets []string
	// Except are destinations left out for now, sorted; only used with All.
	Except []string
}

// Resolve runs every supplier of caps once and validates what it returned. The
// first failure, in the order of the type names, is returned as an *[Error]
// together with an empty snapshot; a nil scope is one, with the reason [NilSet].
func Resolve(caps Capabilities) (Snapshot, error) {
	var s Snapshot
	for _, t := range slices.Sorted(maps.Keys(caps)) {
		ts, reason := resolve(t, caps[t])
		if reason != "" {
			return Snapshot{}, &Error{Type: t, Reason: reason}
		}
		if ts.All || len(ts.Targets) > 0 {
			s.types = append(s.types, ts)
		}
	}
	return s, nil
}

func resolve(t destination.Type, scope Scope) (TypeScope, Reason) {
	switch scope := scope.(type) {
	case all:
		return TypeScope{Type: t, All: true}, ""
	case targets:
		names, reason := supplied(scope.supply)
		return TypeScope{Type: t, Targets: names}, reason
	default:
		return TypeScope{}, NilSet
	}
}

func supplied(supply func() []string) (names []string, reason Reason) {
	defer func() {
		if recover() != nil {
			names, reason = nil, SupplierFailed
		}
	}()
	if supply == nil {
		return nil, NilSet
	}
	got := supply()
	if got == nil {
		return nil, NilSet
	}
	if len(got) > MaxTargets {
		return nil, TooManyTargets
	}
	// The supplier may keep and change its slice: work on a copy.
	names = slices.Clone(got)
	for _, name := range names {
		switch text.Check(name) {
		case text.Empty, text.Blank:
			return nil, BlankElement
		case text.NotUTF8, text.NUL:
			return nil, Malformed
		case text.TooLong:
			return nil, ElementTooLong
		}
	}
	slices.Sort(names)
	return slices.Compact(names), ""
}

// Empty reports whether the snapshot claims nothing.
func (s Snapshot) Empty() bool { return len(s.types) == 0 }

// Types returns the parts of the snapshot, sorted by type. The caller must not change them.
func (s Snapshot) Types() []TypeScope { return s.types }

// Type returns the part for one type; false means that nothing of the type is claimed.
func (s Snapshot) Type(t destination.Type) (TypeScope, bool) {
	i, found := slices.BinarySearchFunc(s.types, t, func(ts TypeScope, t destination.Type) int {
		return strings.Compare(string(ts.Type), string(t))
	})
	if !found {
		return TypeScope{}, false
	}
	return s.types[i], true
}

// Allows reports whether an entry with this type and destination is within the snapshot.
func (s Snapshot) Allows(t destination.Type, name string) bool {
	ts, ok := s.Type(t)
	return ok && ts.Allows(name)
}

// Allows reports whether a destination of the scope's type is within it.
func (ts TypeScope) Allows(name string) bool {
	list := ts.Targets
	if ts.All {
		list = ts.Except
	}
	_, found := slices.BinarySearch(list, name)
	return found != ts.All
}

// Only returns the snapshot reduced to the given types; without types it is empty.
func (s Snapshot) Only(types ...destination.Type) Snapshot {
	var out Snapshot
	for _, ts := range s.types {
		if slices.Contains(types, ts.Type) {
			out.types = append(out.types, ts)
		}
	}
	return out
}

// Exactly returns the part of the snapshot that is one destination, or an empty
// snapshot if that is outside it.
func (s Snapshot) Exactly(t destination.Type, name string) Snapshot {
	if !s.Allows(t, name) {
		return Snapshot{}
	}
	return Snapshot{types: []TypeScope{{Type: t, Targets: []string{name}}}}
}

// Without returns the snapshot without some destinations of one type, for example
// because they are known to be down. Other types are unchanged.
func (s Snapshot) Without(t destination.Type, names ...string) Snapshot {
	if len(names) == 0 {
		return s
	}
	drop := slices.Sorted(slices.Values(names))
	out := Snapshot{types: make([]TypeScope, 0, len(s.types))}
	for _, ts := range s.types {
		if ts.Type == t {
			if ts.All {
				ts.Except = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(ts.Except), drop...))))
			} else {
				ts.Targets = slices.DeleteFunc(slices.Clone(ts.Targets), func(name string) bool {
					_, found := slices.BinarySearch(drop, name)
					return found
				})
			}
		}
		if ts.All || len(ts.Targets) > 0 {
			out.types = append(out.types, ts)
		}
	}
	return out
}

// Widens reports whether ts allows a destination that before does not. A store
// that remembers how far it has read must then read that type from the start.
func (ts TypeScope) Widens(before TypeScope) bool {
	switch {
	case ts.All && before.All:
		return !subset(before.Except, ts.Except)
	case ts.All:
		return true
	case before.All:
		return slices.ContainsFunc(ts.Targets, func(name string) bool { return !before.Allows(name) })
	default:
		return !subset(ts.Targets, before.Targets)
	}
}

// subset reports whether each element of a, sorted, is in b, sorted.
func subset(a, b []string) bool {
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); !found {
			return false
		}
	}
	return true
}
