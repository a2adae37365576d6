package lab

import (
	"fmt"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m, nil) }

// listening collects what a check complains about.
type listening struct {
	testing.TB
	said []string
}

func (l *listening) Error(args ...any) { l.said = append(l.said, fmt.Sprint(args...)) }
func (l *listening) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

// The check finds each kind of violation, and nothing in a history that is in order.
func TestCheckFindsViolations(t *testing.T) {
	t.Parallel()
	db := New(t)
	pool := db.Pool(t)
	ids := Publish(t, pool, Entry("a", 1), Entry("a", 2), Entry("b", 1))
	message := func(i int) string {
		return Value[string](t, pool, `SELECT carrier_id::text FROM outbox WHERE id = $1`, int64(ids[i]))
	}
	event := func(kind, node string, i int) Event {
		return Event{Kind: kind, Node: node, Aggregate: []string{"a", "a", "b"}[i], Entry: int64(ids[i]), Message: message(i)}
	}
	both := func(node string, i int) []Event { return []Event{event(Began, node, i), event(Delivered, node, i)} }
	killed := func(node string) []Event { return []Event{{Kind: Killed, Node: node}} }
	other := event(Began, "x", 2)
	other.Message = "another"
	stranger := event(Began, "x", 2)
	stranger.Entry = 1 << 40
	join := func(parts ...[]Event) (all []Event) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	in, rest := join(both("x", 0), both("x", 1)), both("x", 2)
	for name, c := range map[string]struct {
		events []Event
		want   string // part of the complaint, empty for none
	}{
		"in order":              {join(in, rest), ""},
		"failed before":         {join([]Event{event(Began, "x", 0), event(Failed, "x", 0)}, in, rest), ""},
		"died":                  {join([]Event{event(Began, "x", 0), event(Died, "x", 0)}, both("x", 1), rest), ""},
		"repeated after a kill": {join(both("x", 0), killed("x"), both("y", 0), both("y", 1), both("y", 2)), ""},
		"repeated after amnesty": {
			join(in, []Event{{Kind: Amnesty}}, both("y", 0), both("y", 1), rest), "",
		},
		"cut short by a kill":         {join([]Event{event(Began, "x", 0)}, killed("x"), both("y", 0), both("y", 1), rest), ""},
		"lost":                        {in, "never delivered"},
		"before its turn":             {join(both("x", 1), both("x", 0), rest), "before entry"},
		"while the first is tried":    {join([]Event{event(Began, "x", 0)}, both("y", 1), []Event{event(Delivered, "x", 0)}, rest), "while entry"},
		"repeated for no reason":      {join(in, both("y", 1), rest), "delivered again"},
		"repeated, another killed":    {join(in, killed("z"), both("y", 1), rest), "delivered again"},
		"more repeated than possible": {join(both("x", 0), both("x", 1), rest, killed("x"), both("y", 0), both("y", 1), both("y", 2)), "more than"},
		"another message id":          {join(in, []Event{other}, rest), "another message id"},
		"an entry that never was":     {join(in, []Event{stranger}, rest), "not in the table"},
	} {
		j := NewJournal(t)
		for _, e := range c.events {
			j.Write(e)
		}
		l := &listening{TB: t}
		j.Check(l, pool, 2)
		said := strings.Join(l.said, "; ")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
	db.Exec(t, `DELETE FROM business WHERE aggregate = 'b'`)
	l := &listening{TB: t}
	NewJournal(t).Check(l, pool, 2)
	if !strings.Contains(strings.Join(l.said, "; "), "without the other") {
		t.Errorf("an entry without its business row: %q", l.said)
	}
}
