package storetest

import (
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// A store may remember how far a session has looked. These checks make entries
// claimable that the session has looked at and passed: each way has to lead back.
var pathChecks = []check{
	{"the successor on the same node", nothing, successorHere},
	{"the successor that only another node serves", nothing, successorElsewhere},
	{"an entry that was released elsewhere", nothing, releasedElsewhere},
	{"an entry that was taken back", nothing, takenBack},
	{"an entry whose delay is over", nothing, delayOver},
	{"the entries behind a dead-lettered poison entry", nothing, behindPoison},
	{"an entry committed after its neighbours were read", nothing, committedBehind},
}

func successorHere(e *env) {
	// The second entry of a is passed while its head is held; a hundred entries later
	// it lies far behind.
	list := e.publish(entries(3, "a")...)
	s := e.session("one")
	h := e.take(s, 1)[0]
	e.publish(entries(100, "")...)
	e.deliver(s, e.take(s, 100)...)
	for i := range list {
		e.equal("claimed", h.ID, list[i])
		e.deliver(s, h)
		if i+1 < len(list) {
			h = e.take(s, 1)[0]
		}
	}
}

func successorElsewhere(e *env) {
	list := e.publish(entry("a"), with(entry("a"), func(x *outbox.Entry) { x.DestinationType = beta }))
	one, two := e.session("one"), e.session("two")
	onlyAlpha, onlyBeta := e.request(), e.request()
	onlyAlpha.Scope = e.scope(claim.Capabilities{alpha: claim.All()})
	onlyBeta.Scope = e.scope(claim.Capabilities{beta: claim.All()})
	e.noneWith(two, onlyBeta)
	h := e.takeWith(one, 1, onlyAlpha)[0]
	e.equal("claimed by the first node", h.ID, list[0])
	e.noneWith(two, onlyBeta)
	e.deliver(one, h)
	e.noneWith(one, onlyAlpha)
	e.equal("claimed by the second node", ids(e.takeWith(two, 1, onlyBeta)), list[1:])
}

func releasedElsewhere(e *env) {
	list := e.publish(entry("a"), entry(""))
	one, two := e.session("one"), e.session("two")
	got := e.take(one, 2)
	e.none(two)
	e.release(one, got...)
	e.equal("claimed", len(e.take(two, len(list))), 2)
}

func takenBack(e *env) {
	e.publish(entry("a"), entry(""))
	one, two := e.session("one"), e.session("two")
	got := e.take(one, 2)
	e.none(two)
	e.expire(got...)
	e.equal("taken back", e.reclaim(100).Returned, 2)
	e.take(two, 2)
}

func delayOver(e *env) {
	list := e.publish(entry("a"), entry(""), entry("b"))
	one, two := e.session("one"), e.session("two")
	got := e.take(one, 3)
	e.none(two)
	e.settled(one,
		got[0].failed(relay.Retried, 200*time.Millisecond),
		got[1].failed(relay.Deferred, 100*time.Millisecond),
		got[2].failed(relay.Retried, 0))
	again := e.take(two, len(list))
	e.deliver(two, again...)
}

func behindPoison(e *env) {
	list := e.publish(entries(3, "a")...)
	s := e.session("one")
	h := e.take(s, 1)[0]
	e.none(s)
	e.settled(s, h.failed(relay.DeadLettered, 0))
	h = e.take(s, 1)[0]
	e.equal("claimed", h.ID, list[1])
	// The second dies by being claimed too often; any node may find the third.
	e.expire(h)
	e.reclaimBound(1)
	e.equal("claimed", ids(e.take(s, 1)), list[2:])
}

func committedBehind(e *env) {
	s := e.session("one")
	tx := e.begin()
	early := e.publishIn(tx, entry("a"), entry(""))
	e.publish(entries(5, "")...)
	e.deliver(s, e.take(s, 5)...)
	e.none(s)
	e.must(tx.Commit(e.ctx), "commit")
	e.equal("claimed", len(e.take(s, len(early))), 2)
}
