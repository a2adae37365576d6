package delayedjob

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry("b", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add("c", "a"); err != nil {
		t.Fatal(err)
	}
	r.Remove("b", "never there")
	if got := r.IDs(); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("ids are %v", got)
	}
	if r.Has("b") || !r.Has("c") {
		t.Error("Has disagrees with IDs")
	}
	if err := r.Add("d", "", "e\x00"); !fault.IsInvalid(err) {
		t.Errorf("malformed ids give %v", err)
	} else {
		wantText(t, err, "job id 1 is empty", "job id 2 has a control")
	}
	if r.Has("d") {
		t.Error("an id was added although another was refused")
	}
	if _, err := NewRegistry(" "); err == nil {
		t.Error("NewRegistry took a blank id")
	}
}

func TestRegistryIsBounded(t *testing.T) {
	t.Parallel()
	ids := make([]string, claim.MaxTargets)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	r, err := NewRegistry(ids...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add("1", "2"); err != nil {
		t.Errorf("ids that are there already are refused: %v", err)
	}
	if err := r.Add("one more"); !fault.IsInvalid(err) {
		t.Errorf("one too many gives %v", err)
	}
}

// The scope follows the registry, and an empty registry is not the nil set that
// would abort the relay's cycle.
func TestScopeIsLive(t *testing.T) {
	t.Parallel()
	registry := &Registry{}
	s := newMini(t)
	h := s.handler(t, func(c *Config) { c.Registry = registry })
	resolve := func() []string {
		snapshot, err := claim.Resolve(claim.Capabilities{h.Type(): h.Scope()})
		if err != nil {
			t.Fatal(err)
		}
		scope, _ := snapshot.Type(destination.DelayedJob)
		return scope.Targets
	}
	if got := resolve(); len(got) != 0 {
		t.Errorf("an empty registry claims %v", got)
	}
	if err := registry.Add("a"); err != nil {
		t.Fatal(err)
	}
	if got := resolve(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("scope is %v after Add", got)
	}
	registry.Remove("a")
	if got := resolve(); len(got) != 0 {
		t.Errorf("scope is %v after Remove", got)
	}
}

func TestRegistryConcurrently(t *testing.T) {
	t.Parallel()
	r := &Registry{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				id := fmt.Sprintf("%d-%d", i, n)
				_ = r.Add(id)
				if !r.Has(id) {
					t.Errorf("%s is lost", id)
				}
				r.Remove(id)
				_ = r.IDs()
			}
		})
	}
	wg.Wait()
	if got := r.IDs(); len(got) != 0 {
		t.Errorf("%d ids are left", len(got))
	}
}
