package webhook

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

func endpointNamed(id string) Endpoint {
	return Endpoint{ID: id, URL: "https://example.com/" + id, Secrets: []Secret{NewSecret()}}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	var r Registry // the zero value is ready
	if ids := r.IDs(); ids == nil || len(ids) != 0 {
		t.Fatalf("an empty registry has the ids %#v, want an empty slice", ids)
	}
	if err := r.Set(endpointNamed("a"), endpointNamed("b")); err != nil {
		t.Fatal(err)
	}
	moved := endpointNamed("a")
	moved.URL = "https://example.com/moved"
	if err := r.Set(moved, endpointNamed("c")); err != nil {
		t.Fatal(err)
	}
	r.Remove("b", "unknown")
	ids := r.IDs()
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"a", "c"}) {
		t.Fatalf("got ids %v", ids)
	}
	if e, ok := r.Endpoint("a"); !ok || e.URL != moved.URL {
		t.Fatal("a replaced endpoint is the old one")
	}
	if _, ok := r.Endpoint("b"); ok {
		t.Fatal("a removed endpoint is still there")
	}
}

func TestRegistrySetIsAllOrNothing(t *testing.T) {
	t.Parallel()
	bad := endpointNamed("bad")
	bad.URL = "ftp://example.com"
	r, err := NewRegistry(endpointNamed("a"), bad, endpointNamed("a"), Endpoint{})
	if r != nil || !fault.IsInvalid(err) {
		t.Fatalf("got %v, want no registry and an Invalid", err)
	}
	for _, want := range []string{"endpoint 1: ", "endpoint 2: id is that of endpoint 0", "endpoint 3: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among the problems:\n%v", want, err)
		}
	}
	kept, err := NewRegistry(endpointNamed("kept"))
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Set(endpointNamed("new"), bad); err == nil {
		t.Fatal("a bad endpoint was accepted")
	}
	if ids := kept.IDs(); !slices.Equal(ids, []string{"kept"}) {
		t.Fatalf("a refused Set left %v", ids)
	}
}

// A registry that outgrew the bound of a claim scope would stop the whole node.
func TestRegistryBound(t *testing.T) {
	t.Parallel()
	endpoints := make([]Endpoint, claim.MaxTargets)
	secrets := []Secret{NewSecret()}
	for i := range endpoints {
		endpoints[i] = Endpoint{ID: fmt.Sprint(i), URL: "https://example.com", Secrets: secrets}
	}
	r, err := NewRegistry(endpoints...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(endpointNamed("one-more")); !fault.IsInvalid(err) {
		t.Fatalf("got %v, want an Invalid", err)
	}
	if err := r.Set(endpoints[7]); err != nil {
		t.Fatalf("replacing in a full registry: %v", err)
	}
	if _, err := claim.Resolve(claim.Capabilities{destination.HTTP: claim.Targets(r.IDs)}); err != nil {
		t.Fatalf("the scope of a full registry: %v", err)
	}
}

func TestRegistryKeepsItsOwnCopies(t *testing.T) {
	t.Parallel()
	e := endpointNamed("a")
	e.Headers = map[string]string{"X-A": "1"}
	r, err := NewRegistry(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Headers["X-A"], e.Secrets[0] = "2", Secret{}
	if got, _ := r.Endpoint("a"); got.Headers["X-A"] != "1" || got.Secrets[0].IsZero() {
		t.Fatal("a change of the caller's endpoint changed the registry's")
	}
}

func TestRegistryConcurrently(t *testing.T) {
	t.Parallel()
	var r Registry
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 200 {
				id := fmt.Sprint(n, "-", i%10)
				if err := r.Set(Endpoint{ID: id, URL: "https://example.com", Secrets: []Secret{NewSecret()}}); err != nil {
					t.Error(err)
				}
				r.IDs()
				if _, ok := r.Endpoint(id); !ok {
					t.Error("an endpoint that was set is not there")
				}
				r.Remove(id)
			}
		})
	}
	wg.Wait()
	if ids := r.IDs(); len(ids) != 0 {
		t.Fatalf("left over: %v", ids)
	}
}
