package storetest

import (
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var orderChecks = []check{
	{"only the head of an aggregate is claimed", nothing, headOnly},
	{"a head in backoff holds back the others", nothing, headInBackoff},
	{"a dead head holds back nothing", nothing, headDead},
	{"a scheduled head holds back the others", nothing, headScheduled},
	{"a head for other nodes holds back the others", nothing, headForeign},
	{"the aggregate type plays no part", nothing, aggregateTypeIgnored},
	{"entries without an aggregate are not ordered", nothing, unordered},
	{"entries of one transaction keep their order", nothing, orderInTransaction},
	{"an entry that commits late is still delivered", nothing, lateCommit},
}

func headOnly(e *env) {
	list := e.publish(entry("a"), entry("a"), entry("b"), entry("a"))
	one, two := e.session("one"), e.session("two")
	got := e.take(one, 2)
	e.equal("heads", ids(got), []outbox.ID{list[0], list[2]})
	e.none(one)
	e.none(two) // a head that another session holds is a head
	e.deliver(one, got[0])
	got = append(got, e.take(one, 1)...)
	e.equal("second", got[2].ID, list[1])
	e.none(two)
	e.deliver(one, got[2], got[1])
	e.equal("third", ids(e.take(e.session("three"), 1)), list[3:])
}

func headInBackoff(e *env) {
	list := e.publish(entry("a"), entry("a"))
	s := e.session("one")
	for range 2 {
		h := e.take(s, 1)[0]
		e.equal("claimed", h.ID, list[0])
		e.settled(s, h.failed(relay.Retried, 2*time.Second))
		e.none(s)
		e.none(e.session("other"))
	}
	h := e.take(s, 1)[0]
	e.equal("claimed", h.ID, list[0])
	e.deliver(s, h)
	e.equal("claimed", ids(e.take(s, 1)), list[1:])
}

func headDead(e *env) {
	list := e.publish(entry("a"), entry("a"))
	s := e.session("one")
	e.settled(s, e.take(s, 1)[0].failed(relay.DeadLettered, 0))
	h := e.take(s, 1)[0]
	e.equal("claimed", h.ID, list[1])
	e.settled(s, h.failed(relay.DeadLettered, 0))
	later := e.publish(entry("a"))
	e.equal("claimed", ids(e.take(s, 1)), later)
}

// headScheduled pins the rule: an entry that is not due yet holds back every younger
// one of its aggregate, whatever else is claimed.
func headScheduled(e *env) {
	later := time.Now().Add(time.Hour)
	list := e.publish(
		with(entry("a"), func(x *outbox.Entry) { x.ScheduledAt = later }),
		entry("a"),
		with(entry("b"), func(x *outbox.Entry) { x.AvailableAt = later }),
		entry("b"),
		entry("c"),
		with(entry("c"), func(x *outbox.Entry) { x.ScheduledAt = later }),
		entry("c"),
	)
	s := e.session("one")
	req := e.request()
	req.RunLength = 10
	got := e.takeWith(s, 1, req)
	e.equal("claimed", ids(got), list[4:5])
	e.noneWith(s, req)
	e.deliver(s, got...)
	e.noneWith(s, req)
	e.must(e.Table.Age(e.ctx, 2*time.Hour, list...), "age")
	e.take(e.session("two"), 3) // the heads: a store need not hand out runs
}

func headForeign(e *env) {
	list := e.publish(
		with(entry("a"), func(x *outbox.Entry) { x.DestinationType = beta }), entry("a"),
		with(entry("b"), func(x *outbox.Entry) { x.Destination = "elsewhere" }), entry("b"),
	)
	req := e.request()
	req.RunLength = 10
	req.Scope = e.targets("orders")
	e.noneWith(e.session("one"), req)
	other := e.session("other")
	wide := e.request()
	wide.Scope = e.scope(claim.Capabilities{alpha: claim.Targets(func() []string { return []string{"elsewhere"} }), beta: claim.All()})
	got := e.takeWith(other, 2, wide)
	e.equal("heads", ids(got), []outbox.ID{list[0], list[2]})
	e.noneWith(e.session("one"), req)
	e.deliver(other, got...)
	e.equal("the others", ids(e.takeWith(e.session("one"), 2, req)), []outbox.ID{list[1], list[3]})
}

func aggregateTypeIgnored(e *env) {
	of := func(kind string) outbox.Entry {
		return with(entry("42"), func(x *outbox.Entry) { x.AggregateType = kind })
	}
	list := e.publish(of("Order"), of("Customer"), of(""))
	s := e.session("one")
	for _, id := range list {
		h := e.take(s, 1)[0]
		e.equal("claimed", h.ID, id)
		e.none(s)
		e.deliver(s, h)
	}
}

func unordered(e *env) {
	list := e.publish(entries(20, "")...)
	for range 2 {
		s := e.session("one")
		e.settled(s, e.take(s, 1)[0].failed(relay.Retried, time.Hour))
	}
	e.equal("claimed", len(e.take(e.session("two"), len(list)-2)), 18)
}

// orderInTransaction delivers a hundred entries of one transaction through three nodes
// that take turns.
func orderInTransaction(e *env) {
	list := e.publish(entries(100, "a")...)
	req := e.request()
	req.Limit, req.RunLength = 7, 7
	var got []outbox.ID
	for turn := 0; len(got) < len(list); turn++ {
		s := e.session([]string{"one", "two", "three"}[turn%3])
		batch := e.next(s, req)
		got = append(got, ids(batch)...)
		e.deliver(s, batch...)
	}
	e.equal("order", got, list)
}

// lateCommit lets the younger entry of an aggregate commit first: no store can know of
// the older one, but it must neither be lost nor be overtaken from then on.
func lateCommit(e *env) {
	slow, fast := e.begin(), e.begin()
	first := e.publishIn(slow, entry("a"))[0]
	second := e.publishIn(fast, entry("a"), entry("a"))
	if first > second[0] {
		e.Fatalf("ids are not drawn at the insert: %d, then %d", first, second[0])
	}
	e.must(fast.Commit(e.ctx), "commit")
	s := e.session("one")
	h := e.take(s, 1)[0]
	e.equal("claimed", h.ID, second[0])
	e.must(slow.Commit(e.ctx), "commit")
	e.deliver(s, h)
	h = e.take(s, 1)[0]
	e.equal("claimed after the late commit", h.ID, first)
	e.none(s)
	e.deliver(s, h)
	e.equal("claimed last", ids(e.take(s, 1)), second[1:])
}
