package claim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

func names(list ...string) claim.Scope {
	return claim.Targets(func() []string { return list })
}

func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return list
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("é", claim.MaxTargetLength)
	for _, c := range []struct {
		name  string
		scope claim.Scope
		want  claim.Reason // empty when accepted
	}{
		{"all", claim.All(), ""},
		{"empty set", claim.Targets(func() []string { return []string{} }), ""},
		{"duplicates", names("a", "b", "a"), ""},
		{"longest", names(wide), ""},
		{"most", names(many(claim.MaxTargets)...), ""},
		{"inner blanks", names(" a ", "a\nb"), ""},
		{"nil scope", nil, claim.NilSet},
		{"nil supplier", claim.Targets(nil), claim.NilSet},
		{"nil set", claim.Targets(func() []string { return nil }), claim.NilSet},
		{"panic", claim.Targets(func() []string { panic("boom") }), claim.SupplierFailed},
		{"nil panic", claim.Targets(func() []string { panic(nil) }), claim.SupplierFailed},
		{"error panic", claim.Targets(func() []string { panic(errors.New("boom")) }), claim.SupplierFailed},
		{"index out of range", claim.Targets(func() []string { return many(3)[len(many(4)):] }), claim.SupplierFailed},
		{"empty name", names("a", ""), claim.BlankElement},
		{"blank name", names("a", " \t\u00a0"), claim.BlankElement},
		{"too long", names(wide + "x"), claim.ElementTooLong},
		{"too many", names(many(claim.MaxTargets + 1)...), claim.TooManyTargets},
		{"too many of one", names(slices.Repeat([]string{"a"}, claim.MaxTargets+1)...), claim.TooManyTargets},
		{"invalid UTF-8", names("\xff"), claim.Malformed},
		{"NUL", names("a\x00"), claim.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			snapshot, err := claim.Resolve(claim.Capabilities{"A": claim.All(), "B": c.scope, "C": claim.All()})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var refused *claim.Error
			if !errors.As(err, &refused) || refused.Reason != c.want || refused.Type != "B" {
				t.Fatalf("got %v, want reason %q of type B", err, c.want)
			}
			if !snapshot.Empty() || snapshot.Allows("A", "x") {
				t.Error("a refused cycle still claims something")
			}
			if errors.Unwrap(err) != nil || fault.Retryable(err) || strings.Contains(err.Error(), "boom") {
				t.Errorf("the error says too much: %v", err)
			}
		})
	}
}

func TestResolveCallsEachSupplierOnce(t *testing.T) {
	t.Parallel()
	calls := map[destination.Type]int{}
	caps := claim.Capabilities{}
	for _, typ := range []destination.Type{"A", "B", "C"} {
		caps[typ] = claim.Targets(func() []string { calls[typ]++; return []string{"x"} })
	}
	for range 2 {
		if _, err := claim.Resolve(caps); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(calls) != "map[A:2 B:2 C:2]" {
		t.Errorf("calls: %v", calls)
	}
}

func TestResolveReportsTheFirstTypeByName(t *testing.T) {
	t.Parallel()
	bad := claim.Targets(nil)
	for range 20 { // a map has no order of its own
		_, err := claim.Resolve(claim.Capabilities{"C": bad, "A": claim.All(), "B": bad})
		if got, want := err.Error(), "satchel: claim scope of type B: produced a nil target set"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestSnapshotKeepsNothingOfTheSupplier(t *testing.T) {
	t.Parallel()
	list := []string{"b", "a", "b"}
	snapshot, err := claim.Resolve(claim.Capabilities{"A": names(list...), "B": claim.Targets(func() []string { return list })})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(list, []string{"b", "a", "b"}) {
		t.Errorf("the supplier's slice was sorted: %v", list)
	}
	list[0], list[1], list[2] = "x", "x", "x"
	for _, typ := range []destination.Type{"A", "B"} {
		if ts, ok := snapshot.Type(typ); !ok || ts.All || !slices.Equal(ts.Targets, []string{"a", "b"}) {
			t.Errorf("type %s: %+v", typ, ts)
		}
	}
}
