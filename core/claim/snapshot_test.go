package claim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

func TestZeroSnapshot(t *testing.T) {
	t.Parallel()
	var s claim.Snapshot
	if !s.Empty() || s.Allows("A", "x") || len(s.Types()) != 0 || !s.Only("A").Empty() || !s.Without("A", "x").Empty() {
		t.Error("the zero snapshot claims something")
	}
	if _, ok := s.Type("A"); ok {
		t.Error("the zero snapshot has a type")
	}
}

func TestTypesAreSorted(t *testing.T) {
	t.Parallel()
	s, err := claim.Resolve(claim.Capabilities{"C": claim.All(), "a": claim.All(), "A": claim.All(), "B": names("x")})
	if err != nil {
		t.Fatal(err)
	}
	var got []destination.Type
	for _, ts := range s.Types() {
		got = append(got, ts.Type)
	}
	if !slices.Equal(got, []destination.Type{"A", "B", "C", "a"}) {
		t.Errorf("types: %v", got)
	}
}

// universe is what the property tests ask about; "other" is never named by a scope.
var (
	kinds    = []destination.Type{"A", "B", "C"}
	universe = []string{"v", "w", "x", "y", "z", "other"}
)

// randomSnapshot returns a snapshot and the addresses that it should allow.
func randomSnapshot(r *rand.Rand) (claim.Snapshot, map[string]bool) {
	caps, model := claim.Capabilities{}, map[string]bool{}
	for _, typ := range kinds {
		switch r.IntN(4) {
		case 0: // no handler
		case 1:
			caps[typ] = claim.All()
			for _, name := range universe {
				model[string(typ)+name] = true
			}
		default:
			list := []string{}
			for _, name := range universe[:5] {
				if r.IntN(2) == 0 {
					list = append(list, name)
					model[string(typ)+name] = true
				}
			}
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			caps[typ] = names(append([]string{}, list...)...)
			if len(list) == 0 {
				caps[typ] = claim.Targets(func() []string { return []string{} })
			}
		}
	}
	s, err := claim.Resolve(caps)
	if err != nil {
		panic(err)
	}
	return s, model
}

// TestSnapshotAgainstModel applies random reductions to a snapshot and to a plain set
// of addresses, and compares the two after each.
func TestSnapshotAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, model := randomSnapshot(r)
		for step := range 4 {
			before, frozen := s, fmt.Sprint(s)
			if r.IntN(4) == 0 {
				keep := kinds[r.IntN(3):]
				s = s.Only(keep...)
				for address := range model {
					if !slices.Contains(keep, destination.Type(address[:1])) {
						delete(model, address)
					}
				}
			} else {
				typ := kinds[r.IntN(3)]
				var drop []string
				for range r.IntN(3) {
					drop = append(drop, universe[r.IntN(5)])
				}
				s = s.Without(typ, drop...)
				for _, name := range drop {
					delete(model, string(typ)+name)
				}
			}
			if fmt.Sprint(before) != frozen {
				t.Fatalf("seed %d, step %d: the snapshot before was changed: %s, now %v", seed, step, frozen, before)
			}
			compare(t, seed, s, model)
		}
	}
}

func compare(t *testing.T, seed uint64, s claim.Snapshot, model map[string]bool) {
	t.Helper()
	for _, typ := range kinds {
		for _, name := range universe {
			if got, want := s.Allows(typ, name), model[string(typ)+name]; got != want {
				t.Fatalf("seed %d: Allows(%s, %s) = %v, want %v, in %v", seed, typ, name, got, want, s)
			}
		}
	}
	for _, ts := range s.Types() {
		if !ts.All && len(ts.Targets) == 0 || !slices.IsSorted(ts.Targets) || !slices.IsSorted(ts.Except) {
			t.Fatalf("seed %d: malformed part %+v", seed, ts)
		}
	}
}

// TestWidens compares with its meaning: some destination is allowed now and was not.
func TestWidens(t *testing.T) {
	t.Parallel()
	reduced := func(r *rand.Rand) claim.TypeScope {
		for {
			s, _ := randomSnapshot(r)
			if r.IntN(2) == 0 {
				s = s.Without("A", universe[r.IntN(5)], universe[r.IntN(5)])
			}
			if ts, ok := s.Type("A"); ok {
				return ts
			}
		}
	}
	widened := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		before, after := reduced(r), reduced(r)
		want := slices.ContainsFunc(universe, func(name string) bool { return after.Allows(name) && !before.Allows(name) })
		if got := after.Widens(before); got != want {
			t.Fatalf("seed %d: Widens = %v, want %v: from %+v to %+v", seed, got, want, before, after)
		}
		if want {
			widened++
		}
	}
	if widened < 500 || widened > 4500 {
		t.Errorf("the cases are lopsided: %d of 5000 widen", widened)
	}
	if a := reduced(rand.New(rand.NewPCG(1, 1))); a.Widens(a) {
		t.Error("a scope widens itself")
	}
}
