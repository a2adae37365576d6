package storetest

import (
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var runChecks = []check{
	{"a run is consecutive and within its bounds", runs, runBounds},
	{"a run ends where an entry cannot be taken", nothing, runEnds},
	{"a run that breaks leaves the rest untouched", runs, runBreaks},
	{"a run may be settled piece by piece", runs, runPieces},
	{"a run holds its aggregate", runs, runHolds},
	{"an entry published behind a run waits for it", runs, behindRun},
}

// run claims entries of one aggregate as one run of exactly n.
func (e *env) run(s relay.Session, n int) []held {
	e.Helper()
	req := e.request()
	req.RunLength, req.Limit = n, n
	got := e.next(s, req)
	if len(got) != n {
		e.Fatalf("run of %d entries, want %d", len(got), n)
	}
	return got
}

func runBounds(e *env) {
	list := e.publish(entries(9, "a")...)
	s := e.session("one")
	e.equal("first run", ids(e.run(s, 4)), list[:4])
	e.none(s)
	for _, id := range list[:4] {
		r := e.row(id)
		e.equal("state and claims", []any{r.State, r.Claims}, []any{outbox.Processing, 1})
	}
	e.equal("the one behind is untouched", e.row(list[4]).State, outbox.Pending)

	e.publish(entries(3, "b")...)
	req := e.request()
	req.RunLength, req.Limit = 10, 2
	got := e.next(e.session("two"), req) // checks order, length and limit
	if got[0].AggregateID != "b" {
		e.Errorf("claimed %v, want the start of b", ids(got))
	}
}

func runEnds(e *env) {
	list := e.publish(
		entry("a"), entry("a"), with(entry("a"), func(x *outbox.Entry) { x.DestinationType = "OTHER" }), entry("a"),
		entry("b"), with(entry("b"), func(x *outbox.Entry) { x.Destination = "elsewhere" }), entry("b"),
		entry("c"), with(entry("c"), func(x *outbox.Entry) { x.AvailableAt = time.Now().Add(time.Hour) }), entry("c"),
		entry("d"), with(entry("d"), func(x *outbox.Entry) { x.ScheduledAt = time.Now().Add(time.Hour) }), entry("d"),
	)
	allowed := map[outbox.ID]bool{list[0]: true, list[1]: true, list[4]: true, list[7]: true, list[10]: true}
	s := e.session("one")
	req := e.request()
	req.RunLength = 10
	req.Scope = req.Scope.Without(alpha, "elsewhere")
	got := e.takeWith(s, 4, req)
	more, _ := e.claim(s, req)
	for _, h := range append(got, more...) {
		if !allowed[h.ID] {
			e.Errorf("entry %d was claimed behind one that cannot be taken", h.ID)
		}
	}
}

func runBreaks(e *env) {
	list := e.publish(entries(5, "a")...)
	before := e.rows()
	s := e.session("one")
	got := e.run(s, 5)
	e.settled(s,
		got[0].outcome(relay.Published),
		got[1].outcome(relay.Published),
		got[2].failed(relay.Retried, 2*time.Second),
		got[3].outcome(relay.ReleasedBehind),
		got[4].outcome(relay.ReleasedBehind))
	e.none(s)
	rows := e.rows()
	for i, want := range []outbox.State{outbox.Published, outbox.Published, outbox.Pending, outbox.Pending, outbox.Pending} {
		e.equal("state", rows[list[i]].State, want)
	}
	for _, id := range list[3:] {
		r := rows[id]
		e.equal("attempt and claims", []int{r.Attempt, r.Claims}, []int{0, 0})
		e.equal("due as before", r.AvailableAt.Equal(before[id].AvailableAt), true)
		e.equal("error", r.LastError, "")
	}
	again := e.run(s, 3)
	e.equal("the rest", ids(again), list[2:])
	e.equal("attempt", again[0].Attempt, 1)
	e.deliver(s, again...)
}

func runPieces(e *env) {
	list := e.publish(entries(4, "a")...)
	s := e.session("one")
	got := e.run(s, 4)
	for i := range got {
		e.deliver(s, got[i])
		e.none(e.session("other")) // the followers are still held
		e.equal("state", e.row(list[i]).State, outbox.Published)
	}
	e.none(s)
}

func runHolds(e *env) {
	list := e.publish(entries(6, "a")...)
	one, two := e.session("one"), e.session("two")
	got := e.run(one, 3)
	e.none(two)
	e.release(one, got...) // not started: all of them due now
	for _, id := range list[:3] {
		r := e.row(id)
		e.equal("state, attempt, claims", []any{r.State, r.Attempt, r.Claims}, []any{outbox.Pending, 0, 0})
	}
	e.equal("run", ids(e.run(e.session("three"), 6)), list)
}

func behindRun(e *env) {
	list := e.publish(entries(2, "a")...)
	s := e.session("one")
	got := e.run(s, 2)
	e.equal("run", ids(got), list)
	later := e.publish(entries(2, "a")...)
	e.none(s)
	e.deliver(s, got...)
	e.equal("the later ones", ids(e.run(s, 2)), later)
}
