package storetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var settleChecks = []check{
	{"outcomes of one call are reported one by one", nothing, settleMixed},
	{"a repeated call records nothing", nothing, settleRepeated},
	{"the longest texts are stored", nothing, settleTexts},
	{"a delay counts from the settlement", nothing, settleDelay},
	{"a long delay is a long delay", nothing, settleLongDelay},
	{"a cancelled call records nothing", nothing, settleCancelled},
	{"an ended lease is gone", nothing, settleEnded},
	{"many outcomes in one call", nothing, settleMany},
}

func settleMixed(e *env) {
	e.publish(entries(4, "")...)
	s := e.session("one")
	got := e.take(s, 3)
	unclaimed := outbox.ID(0)
	for id, r := range e.rows() {
		if r.State == outbox.Pending {
			unclaimed = id
		}
	}
	foreign := held{Record: got[0].Record, lease: got[0].lease + 1000}
	stray := held{lease: got[0].lease}
	stray.ID = unclaimed
	nowhere := held{lease: got[0].lease}
	nowhere.ID = 1 << 40
	recorded := e.settle(s,
		stray.outcome(relay.Published),
		got[0].outcome(relay.Published),
		nowhere.outcome(relay.Published),
		got[1].failed(relay.Retried, time.Hour),
		foreign.outcome(relay.Published),
		got[2].failed(relay.DeadLettered, 0),
	)
	e.equal("recorded", recorded, []bool{false, true, false, true, false, true})
	rows := e.rows()
	e.equal("unclaimed", rows[unclaimed].State, outbox.Pending)
	for i, want := range []outbox.State{outbox.Published, outbox.Pending, outbox.DeadLetter} {
		e.equal("state", rows[got[i].ID].State, want)
	}
}

func settleRepeated(e *env) {
	e.publish(entries(6, "")...)
	s := e.session("one")
	for i, h := range e.take(s, 6) {
		kind := relay.OutcomeKind(i + 1)
		o := h.failed(kind, time.Hour)
		e.equal("first", e.settle(s, o), []bool{true})
		before := e.row(h.ID)
		for range 2 {
			e.equal("again", e.settle(s, o), []bool{false})
		}
		after := e.row(h.ID)
		e.equal("row", []any{after.State, after.Attempt, after.Claims}, []any{before.State, before.Attempt, before.Claims})
	}
}

func settleTexts(e *env) {
	text := strings.Repeat("\U0001F600", fault.MaxTextLength-40) + `'; -- \u0000 \x00 "{},` + "\u202e\ufffd"
	kind := strings.Repeat("é", 500)
	e.publish(entries(3, "")...)
	s := e.session("one")
	for i, h := range e.take(s, 3) {
		o := h.failed([]relay.OutcomeKind{relay.Retried, relay.DeadLettered, relay.Deferred}[i], time.Hour)
		o.LastError, o.ErrorType = text, kind
		e.settled(s, o)
		r := e.row(h.ID)
		e.equal("last error", r.LastError, text)
		e.equal("error type", r.ErrorType, kind)
	}
}

func settleDelay(e *env) {
	const delay = 2 * time.Second
	e.publish(entry("a"), entry("b"))
	s := e.session("one")
	got := e.take(s, 2)
	time.Sleep(150 * time.Millisecond) // the handler works
	start := time.Now()
	e.settled(s, got[0].failed(relay.Retried, delay), got[1].failed(relay.Deferred, delay))
	e.none(s)
	e.take(s, 2)
	if waited := time.Since(start); waited < delay-10*time.Millisecond {
		e.Errorf("entries were claimable %v after the settlement, want %v", waited, delay)
	}
}

func settleLongDelay(e *env) {
	list := e.publish(entry("a"), entry("b"))
	s := e.session("one")
	got := e.take(s, 2)
	e.settled(s, got[0].failed(relay.Retried, 300*24*time.Hour), got[1].failed(relay.Deferred, 1500*time.Microsecond))
	e.equal("claimed", ids(e.take(s, 1)), list[1:])
	e.must(e.Table.Age(e.ctx, 299*24*time.Hour, list[0]), "age")
	e.none(e.session("two"))
	e.must(e.Table.Age(e.ctx, 25*time.Hour, list[0]), "age")
	e.take(e.session("three"), 1)
}

func settleCancelled(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	_, err := s.Settle(ctx, []relay.Outcome{h.outcome(relay.Published)}, []relay.LeaseID{h.lease})
	var failure *fault.Persistence
	if !errors.As(err, &failure) {
		e.Errorf("cancelled settle returned %v; want a *fault.Persistence", err)
	}
	e.equal("state", e.row(h.ID).State, outbox.Processing)
	e.deliver(s, h)
}

func settleEnded(e *env) {
	e.publish(entries(2, "")...)
	s := e.session("one")
	got := e.take(s, 2)
	e.deliver(s, got[0])
	recorded, err := s.Settle(e.ctx, []relay.Outcome{got[1].outcome(relay.Published)}, []relay.LeaseID{got[1].lease})
	e.must(err, "settle")
	e.equal("recorded", recorded, []bool{true})
	lost, err := s.Renew(e.ctx, []relay.LeaseID{got[1].lease}, time.Minute)
	e.must(err, "renew")
	e.equal("lost", lost, []relay.LeaseID{got[1].lease})
	// A lease may also end alone, and a second time.
	for range 2 {
		_, err = s.Settle(e.ctx, nil, []relay.LeaseID{got[1].lease, got[0].lease})
		e.must(err, "settle of nothing")
	}
	e.equal("leases to take back", e.reclaim(10).Leases, 0)
}

func settleMany(e *env) {
	const n = 500
	e.publish(entries(n, "")...)
	s := e.session("one")
	e.deliver(s, e.take(s, n)...)
	for id, r := range e.rows() {
		if r.State != outbox.Published || r.PublishedAt.IsZero() {
			e.Fatalf("entry %d is %s", id, r.State)
		}
	}
}
