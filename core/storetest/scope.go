package storetest

import (
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

var scopeChecks = []check{
	{"only what the scope allows is claimed", nothing, scopeTable},
	{"an empty scope claims nothing", nothing, scopeEmpty},
	{"names are compared exactly", nothing, scopeOddNames},
	{"ten thousand targets", nothing, scopeLarge},
	{"a scope may grow", nothing, scopeGrows},
	{"an exception may end", nothing, scopeExceptionEnds},
	{"a stored type may be unknown", nothing, scopeUnknownType},
}

// targets is a scope with named destinations of type alpha.
func (e *env) targets(names ...string) claim.Snapshot {
	e.Helper()
	names = append([]string{}, names...) // an empty set is not a nil one
	return e.scope(claim.Capabilities{alpha: claim.Targets(func() []string { return names })})
}

// address returns what spread was given.
func (h held) address() string { return string(h.DestinationType) + "/" + h.Destination }

// spread publishes one entry for each of several addresses "TYPE/name".
func (e *env) spread(addresses ...string) {
	e.Helper()
	list := make([]outbox.Entry, len(addresses))
	for i, a := range addresses {
		kind, name, _ := strings.Cut(a, "/")
		list[i] = with(entry(""), func(x *outbox.Entry) {
			x.DestinationType, x.Destination = destination.Type(kind), name
		})
	}
	e.publish(list...)
}

// claimsExactly checks which addresses a fresh session gets under a scope, and puts
// them back.
func (e *env) claimsExactly(what string, scope claim.Snapshot, want ...string) {
	e.Helper()
	s := e.session(what)
	req := e.request()
	req.Scope = scope
	got := e.takeWith(s, len(want), req)
	e.noneWith(s, req)
	expected := map[string]int{}
	for _, a := range want {
		expected[a]++
	}
	for _, h := range got {
		if expected[h.address()]--; expected[h.address()] < 0 {
			e.Errorf("%s: claimed %.40s", what, h.address())
		}
	}
	e.release(s, got...)
}

func scopeTable(e *env) {
	e.spread("ALPHA/x", "ALPHA/y", "ALPHA/z", "BETA/x", "BETA/y", "GAMMA/x")
	none := claim.Targets(func() []string { return []string{} })
	x := claim.Targets(func() []string { return []string{"x"} })
	xy := claim.Targets(func() []string { return []string{"y", "x", "y"} })
	e.claimsExactly("one type", e.scope(claim.Capabilities{alpha: claim.All()}), "ALPHA/x", "ALPHA/y", "ALPHA/z")
	e.claimsExactly("targets", e.scope(claim.Capabilities{alpha: xy}), "ALPHA/x", "ALPHA/y")
	e.claimsExactly("mixed", e.scope(claim.Capabilities{alpha: x, beta: claim.All(), gamma: none}), "ALPHA/x", "BETA/x", "BETA/y")
	e.claimsExactly("two sets", e.scope(claim.Capabilities{alpha: x, gamma: xy}), "ALPHA/x", "GAMMA/x")
	e.claimsExactly("foreign target", e.targets("nowhere"))
	all := e.scope(claim.Capabilities{alpha: claim.All(), beta: claim.All()})
	e.claimsExactly("except", all.Without(alpha, "x", "z").Without(beta, "nowhere"), "ALPHA/y", "BETA/x", "BETA/y")
	e.claimsExactly("except all there is", all.Without(alpha, "x", "y", "z").Only(alpha))
}

func scopeEmpty(e *env) {
	e.spread("ALPHA/x", "BETA/x")
	s := e.session("one")
	req := e.request()
	for _, scope := range []claim.Snapshot{{}, e.scope(nil), e.targets()} {
		req.Scope = scope
		e.noneWith(s, req)
		_, ok, err := s.NextDue(e.ctx, scope)
		e.must(err, "next due")
		e.equal("next due known", ok, false)
	}
	e.take(s, 2)
}

func scopeOddNames(e *env) {
	names := []string{
		"orders", "Orders", "orders ", "order_", "order%", `or"ders`, `o'rders`, `\orders`, "or,ders", "{orders}",
		"NULL", "null", "漢字 😀", "a\nb", "$1", strings.Repeat("ж", 255), strings.Repeat("ж", 254),
	}
	for _, name := range names {
		e.spread("ALPHA/" + name)
	}
	for _, name := range names {
		e.claimsExactly("target", e.targets(name), "ALPHA/"+name)
	}
	e.claimsExactly("except the rest", e.scope(claim.Capabilities{alpha: claim.All()}).Without(alpha, names[1:]...), "ALPHA/orders")
}

func scopeLarge(e *env) {
	names := make([]string, claim.MaxTargets)
	for i := range names {
		names[i] = fmt.Sprintf("%0*d", claim.MaxTargetLength, i)
	}
	e.spread("ALPHA/other", "ALPHA/"+names[0], "ALPHA/"+names[len(names)-1])
	e.claimsExactly("large set", e.targets(names...), "ALPHA/"+names[0], "ALPHA/"+names[len(names)-1])
	e.claimsExactly("large exception", e.scope(claim.Capabilities{alpha: claim.All()}).Without(alpha, names...), "ALPHA/other")
}

// scopeGrows widens the scope of one session step by step: what lay outside before is
// found, although the session has looked at it already.
func scopeGrows(e *env) {
	e.spread("ALPHA/x", "ALPHA/y", "ALPHA/z", "BETA/x")
	s := e.session("one")
	req := e.request()
	for _, step := range []struct {
		scope claim.Snapshot
		finds string
	}{
		{e.targets("x"), "ALPHA/x"},
		{e.targets("x", "y"), "ALPHA/y"},
		{e.scope(claim.Capabilities{alpha: claim.All()}), "ALPHA/z"},
		{e.scope(claim.Capabilities{alpha: claim.All(), beta: claim.All()}), "BETA/x"},
	} {
		req.Scope = step.scope
		e.equal("found", e.takeWith(s, 1, req)[0].address(), step.finds)
		e.noneWith(s, req)
	}
}

func scopeExceptionEnds(e *env) {
	e.spread("ALPHA/x", "ALPHA/y")
	s := e.session("one")
	req := e.request()
	all := req.Scope
	req.Scope = all.Without(alpha, "x")
	e.equal("found", e.takeWith(s, 1, req)[0].address(), "ALPHA/y")
	e.noneWith(s, req)
	req.Scope = all
	e.equal("found", e.takeWith(s, 1, req)[0].address(), "ALPHA/x")
}

func scopeUnknownType(e *env) {
	e.spread("alpha/x", "X-1_y/x", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345/x")
	e.none(e.session("one"))
	e.claimsExactly("custom type", e.scope(claim.Capabilities{"X-1_y": claim.All()}), "X-1_y/x")
	e.claimsExactly("lower case", e.scope(claim.Capabilities{"alpha": claim.All()}), "alpha/x")
	e.claimsExactly("longest", e.scope(claim.Capabilities{"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345": claim.All()}), "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345/x")
}
