package postgres

import (
	"testing"

	"github.com/satchel-go/satchel/core/claim"
)

func TestPathWiderScope(t *testing.T) {
	t.Parallel()
	a := only(t, tailOnly)
	y := alpha("")
	y.Destination = "y"
	ids := publishing(t, a.placed, y, alpha(""))
	req := request(10)
	narrow, err := claim.Resolve(claim.Capabilities{"ALPHA": claim.Targets(func() []string { return []string{"x"} })})
	if err != nil {
		t.Fatal(err)
	}
	req.Scope = narrow
	got, _ := a.take(a.session, req)
	a.expect("within the narrow scope", got, ids[1])
	got, _ = a.take(a.session, request(10))
	a.expect("within the wide scope", got, ids[0])
	req.Scope = request(1).Scope.Without("ALPHA", "y") // a destination is paused, and then not
	more := publishing(t, a.placed, y)
	got, _ = a.take(a.session, req)
	a.expect("while paused", got)
	got, _ = a.take(a.session, request(10))
	a.expect("after the pause", got, more...)
}
