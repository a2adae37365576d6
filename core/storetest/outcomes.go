package storetest

import (
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var outcomeChecks = []check{
	{"what each outcome does to the row", nothing, outcomeTable},
	{"claims count until an outcome is settled", nothing, outcomeClaims},
	{"attempts add up and stay", nothing, outcomeAttempts},
	{"a released entry is due now", nothing, outcomeReleased},
}

func outcomeTable(e *env) {
	for _, c := range []struct {
		kind    relay.OutcomeKind
		state   outbox.State
		attempt int
		failure bool // the error is stored
		again   bool // it can be claimed at once
	}{
		{relay.Published, outbox.Published, 0, false, false},
		{relay.Retried, outbox.Pending, 1, true, false},
		{relay.DeadLettered, outbox.DeadLetter, 1, true, false},
		{relay.Deferred, outbox.Pending, 0, true, false},
		{relay.Released, outbox.Pending, 0, false, true},
	} {
		id := e.publish(entry(""))[0]
		s := e.session("one")
		h := e.take(s, 1)[0]
		e.equal("claimed", h.ID, id)
		o := h.outcome(c.kind)
		if c.failure {
			o = h.failed(c.kind, time.Hour)
		}
		e.settled(s, o)
		r := e.row(id)
		e.equal("state", r.State, c.state)
		e.equal("attempt", r.Attempt, c.attempt)
		e.equal("claims", r.Claims, 0)
		e.equal("lease", r.Lease, 0)
		e.equal("published time is set", !r.PublishedAt.IsZero(), c.state == outbox.Published)
		e.equal("time of death is set", !r.DeadLetteredAt.IsZero(), c.state == outbox.DeadLetter)
		e.equal("errors", r.LastError+r.ErrorType, o.LastError+o.ErrorType)
		e.equal("is due", !r.Due().After(time.Now().Add(30*time.Minute)), !c.failure || c.state.Settled())
		if c.again {
			e.deliver(s, e.take(s, 1)...)
		}
		e.none(s)
	}
}

func outcomeClaims(e *env) {
	id := e.publish(entry("a"))[0]
	s := e.session("one")
	lost := func() {
		e.Helper()
		h := e.take(s, 1)[0]
		e.expire(h)
		e.equal("taken back", e.reclaim(10).Returned, 1)
	}
	claims := func(what string, want int) {
		e.Helper()
		e.equal("claims after "+what, e.row(id).Claims, want)
	}
	lost()
	claims("one lost claim", 1)
	lost()
	claims("two lost claims", 2)
	h := e.take(s, 1)[0]
	claims("three claims", 3)
	e.release(s, h)
	claims("a release", 2)
	for _, kind := range []relay.OutcomeKind{relay.Retried, relay.Deferred} {
		e.settled(s, e.take(s, 1)[0].failed(kind, 0))
		claims("an outcome", 0)
		lost()
		claims("one more lost claim", 1)
	}
	e.deliver(s, e.take(s, 1)...)
	claims("delivery", 0)
}

func outcomeAttempts(e *env) {
	id := e.publish(with(entry("a"), func(x *outbox.Entry) { x.MaxAttempts = 3 }))[0]
	s := e.session("one")
	for i := range 5 { // the bound is the relay's business, not the store's
		h := e.take(s, 1)[0]
		e.equal("attempt", h.Attempt, i)
		e.settled(s, h.failed(relay.Retried, 0))
		h = e.take(s, 1)[0]
		e.settled(s, h.failed(relay.Deferred, 0))
		e.equal("stored attempt", e.row(id).Attempt, i+1)
	}
	e.settled(s, e.take(s, 1)[0].failed(relay.DeadLettered, 0))
	e.equal("last attempt", e.row(id).Attempt, 6)
}

func outcomeReleased(e *env) {
	list := e.publish(entry("a"), entry("b"))
	e.must(e.Table.Age(e.ctx, time.Hour, list...), "age")
	before := e.rows()
	s := e.session("one")
	got := e.take(s, 2)
	e.release(s, got...)
	for id, r := range e.rows() {
		if r.AvailableAt.Before(before[id].AvailableAt.Add(30 * time.Minute)) {
			e.Errorf("released entry %d is due as before, so a session that passed it does not see it", id)
		}
	}
	e.equal("claimed again", len(e.take(s, 2)), 2)
}
