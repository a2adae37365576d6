package claim

// Scope says which destinations of one type a node can deliver to. It is one of
// [All] and [Targets]; no other package can add a variant, so that a linter can
// list every place that must know them all.
type Scope interface{ scope() }

type all struct{}

type targets struct{ supply func() []string }

func (all) scope()     {}
func (targets) scope() {}

// All is the scope of a handler that can deliver to any destination of its type.
func All() Scope { return all{} }

// Targets is the scope of a handler that can deliver to the named destinations
// only. The supplier is called once per claim cycle, so the set may change while
// the relay runs; it must be quick and safe for use from another goroutine. An
// empty set claims nothing. A supplier that misbehaves aborts the whole cycle with
// an [Error] and claims nothing for any type: see [Reason] for what is refused.
func Targets(supply func() []string) Scope { return targets{supply: supply} }
