package storetest

import (
	"testing"

	"github.com/satchel-go/satchel/core/outbox"
)

// TestChecker shows that the checker sees what it is there for: a checker that lets
// everything pass would make every store look right.
func TestChecker(t *testing.T) {
	t.Parallel()
	entry := func(id outbox.ID, aggregate string) held {
		h := held{}
		h.ID, h.AggregateID = id, aggregate
		return h
	}
	one, two, other, free := entry(1, "a"), entry(2, "a"), entry(3, "b"), entry(4, "")
	for _, c := range []struct {
		name  string
		steps func(c *checker)
		wrong int
	}{
		{"in order", func(c *checker) { c.start(one); c.end(one, true); c.start(two); c.end(two, true) }, 0},
		{"again after a failure", func(c *checker) { c.start(one); c.end(one, false); c.start(one) }, 0},
		{"aggregates at once", func(c *checker) { c.start(one); c.start(other) }, 0},
		{"unordered twice", func(c *checker) { c.start(free); c.start(free) }, 0},
		{"overtaken", func(c *checker) { c.start(two) }, 1},
		{"overtaken after a failure", func(c *checker) { c.start(one); c.end(one, false); c.start(two) }, 1},
		{"overlapping and overtaken", func(c *checker) { c.start(one); c.start(two) }, 2},
		{"delivered after its settlement", func(c *checker) { c.start(one); c.end(one, true); c.start(one) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newChecker()
			k.expect("a", 2, 1)
			k.expect("b", 3)
			c.steps(k)
			if got := k.report(); len(got) != c.wrong {
				t.Errorf("problems: %v, want %d", got, c.wrong)
			}
		})
	}
}

func TestSameJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1e3`, `1000`, true},
		{`1.10`, `1.1`, true},
		{`-0`, `0`, true},
		{`{"a":1,"b":2}`, ` {"b":2, "a":1}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`"\u00e9"`, `"é"`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1`, `"1"`, false},
		{`null`, `{}`, false},
		{`[]`, `null`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`1`, `1 2`, false},
		{`1`, ``, false},
	} {
		if got := sameJSON([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("sameJSON(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

func TestLacks(t *testing.T) {
	t.Parallel()
	all := Features{Runs: true, Archive: true, TxDelivery: true, Registry: true, Waker: true}
	for _, n := range []need{nothing, runs, archive, txDelivery, registry, waker} {
		if missing := all.lacks(n); missing != "" {
			t.Errorf("a store with everything lacks %s", missing)
		}
		if missing := (Features{}).lacks(n); (missing == "") != (n == nothing) {
			t.Errorf("a store with nothing lacks %q for need %d", missing, n)
		}
	}
}
