package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var claimChecks = []check{
	{"an empty store gives an empty batch", nothing, claimEmpty},
	{"a claimed entry is processing and counted", nothing, claimMarks},
	{"the limit holds, and more is said", nothing, claimLimit},
	{"the oldest due entry comes first", nothing, claimOldestFirst},
	{"what is not due waits until it is", nothing, claimDue},
	{"no entry is claimed twice", nothing, claimExclusive},
	{"the preferred type comes first and leaves its room", nothing, claimPreferred},
	{"a cancelled claim claims nothing", nothing, claimCancelled},
	{"the next due time is known", nothing, nextDue},
	{"a probe claims one entry and disturbs nothing", nothing, claimProbe},
}

func claimEmpty(e *env) {
	s := e.session("one")
	e.none(s)
	e.settle(s) // nothing to settle is no error either
	lost, err := s.Renew(e.ctx, nil, time.Minute)
	e.must(err, "renew of nothing")
	e.equal("lost", len(lost), 0)
}

func claimMarks(e *env) {
	e.publish(entry("a"), entry(""))
	first := e.take(e.session("one"), 2)
	for _, h := range first {
		r := e.row(h.ID)
		e.equal("state", r.State, outbox.Processing)
		e.equal("lease", r.Lease, h.lease)
		e.equal("attempt and claims", []int{r.Attempt, r.Claims}, []int{0, 1})
	}
	e.publish(entry("b"))
	if second := e.take(e.session("one"), 1); second[0].lease == first[0].lease {
		e.Error("two claims share a lease")
	}
}

func claimLimit(e *env) {
	e.publish(entries(12, "")...)
	s := e.session("one")
	req := e.request()
	req.Limit = 5
	seen := map[outbox.ID]bool{}
	for range 100 {
		got, more := e.claim(s, req) // checks the limit
		for _, h := range got {
			seen[h.ID] = true
		}
		if len(seen) < 12 && !more {
			e.Fatalf("the claim said there is no more after %d of 12 entries", len(seen))
		}
		if len(seen) == 12 {
			break
		}
	}
	e.equal("claimed", len(seen), 12)
	e.none(s)
}

func claimOldestFirst(e *env) {
	published := e.publish(entries(10, "")...)
	// Writing the first half again moves it in a heap: nothing may rely on that order.
	e.must(e.Table.Age(e.ctx, 0, published[:5]...), "age by nothing")
	e.equal("ids", ids(e.take(e.session("one"), 10)), published)

	list := e.publish(entries(4, "")...)
	for i, by := range []time.Duration{time.Minute, 3 * time.Minute, 0, 2 * time.Minute} {
		e.must(e.Table.Age(e.ctx, by, list[i]), "age")
	}
	want := []outbox.ID{list[1], list[3], list[0], list[2]}
	s := e.session("two")
	e.equal("oldest", ids(e.take(s, 1)), want[:1])
	e.equal("the others", ids(e.take(s, 3)), want[1:])
}

func claimDue(e *env) {
	soon := time.Now().Add(3 * time.Second)
	far := time.Now().Add(time.Hour)
	got := e.publish(
		with(entry("a"), func(x *outbox.Entry) { x.AvailableAt = soon }),
		with(entry("b"), func(x *outbox.Entry) { x.ScheduledAt = soon }),
		with(entry("c"), func(x *outbox.Entry) { x.AvailableAt, x.ScheduledAt = soon.Add(-time.Hour), soon }),
		with(entry("d"), func(x *outbox.Entry) { x.AvailableAt = far }),
		with(entry("e"), func(x *outbox.Entry) { x.ScheduledAt = far }),
		with(entry("f"), func(x *outbox.Entry) { x.AvailableAt, x.ScheduledAt = far, soon }),
		with(entry("g"), func(x *outbox.Entry) { x.ScheduledAt = soon.Add(-time.Hour) }),
	)
	s := e.session("one")
	e.equal("due at once", ids(e.take(s, 1)), got[6:])
	for _, h := range e.take(s, 3) {
		if h.ID > got[2] {
			e.Errorf("entry %d was claimed before it is due", h.ID)
		}
		// The two clocks may differ a little; half of the wait is far more than that.
		if time.Until(soon) > 1500*time.Millisecond {
			e.Errorf("entry %d was claimed %v early", h.ID, time.Until(soon))
		}
	}
	e.none(e.session("two"))
	e.must(e.Table.Age(e.ctx, 2*time.Hour, got[3:6]...), "age")
	e.take(e.session("three"), 3)
}

func claimExclusive(e *env) {
	e.publish(entries(30, "")...)
	seen := map[outbox.ID]bool{}
	sessions := []relay.Session{e.session("one"), e.session("two"), e.session("three")}
	for i := range 6 {
		for _, h := range e.take(sessions[i%3], 5) {
			if seen[h.ID] {
				e.Errorf("entry %d was claimed twice", h.ID)
			}
			seen[h.ID] = true
		}
	}
	for _, s := range sessions {
		e.none(s)
	}
}

func claimPreferred(e *env) {
	of := func(t destination.Type) outbox.Entry {
		return with(entry(""), func(x *outbox.Entry) { x.DestinationType = t })
	}
	e.publish(of(alpha), of(alpha), of(alpha), of(alpha))
	e.publish(of(beta), of(beta))
	for _, turn := range []destination.Type{beta, "", alpha, gamma} {
		s := e.session("turn of " + string(turn))
		req := e.request()
		req.Limit, req.First = 3, turn
		var got []held
		for range 10 {
			batch, more := e.claim(s, req)
			got = append(got, batch...)
			if req.Limit -= len(batch); req.Limit == 0 || !more {
				break
			}
		}
		e.equal("claimed with First "+string(turn), len(got), 3)
		served := map[destination.Type]int{}
		for _, h := range got {
			served[h.DestinationType]++
		}
		if turn == beta && served[beta] != 2 || turn == alpha && served[alpha] != 3 {
			e.Errorf("with First %s the claim served %v", turn, served)
		}
		e.release(s, got...)
	}
}

func claimCancelled(e *env) {
	e.publish(entries(3, "")...)
	s := e.session("one")
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	batch, err := s.Claim(ctx, e.request())
	var failure *fault.Persistence
	if len(batch.Records) > 0 || !errors.As(err, &failure) {
		e.Fatalf("cancelled claim returned %d entries and %v; want a *fault.Persistence", len(batch.Records), err)
	}
	e.take(s, 3)
}

func nextDue(e *env) {
	s := e.session("one")
	scope := e.request().Scope
	_, ok, err := s.NextDue(e.ctx, scope)
	e.must(err, "next due")
	e.equal("known in an empty store", ok, false)
	e.publish(
		entry(""),
		with(entry(""), func(x *outbox.Entry) { x.ScheduledAt = time.Now().Add(2 * time.Hour) }),
		with(entry(""), func(x *outbox.Entry) { x.AvailableAt = time.Now().Add(time.Hour) }),
		with(entry(""), func(x *outbox.Entry) {
			x.DestinationType, x.AvailableAt = gamma, time.Now().Add(time.Minute)
		}),
	)
	e.take(s, 1)
	wait, ok, err := s.NextDue(e.ctx, scope.Only(alpha, beta))
	e.must(err, "next due")
	if !ok || wait > time.Hour || wait < 58*time.Minute {
		e.Errorf("next due in %v, known %v; want about an hour", wait, ok)
	}
	_, ok, err = s.NextDue(e.ctx, scope.Only(beta))
	e.must(err, "next due")
	e.equal("known for a type without entries", ok, false)
}

func claimProbe(e *env) {
	to := func(name string) outbox.Entry {
		return with(entry(""), func(x *outbox.Entry) { x.Destination = name })
	}
	e.publish(to("down"), to("up"), to("down"), to("up"))
	s := e.session("one")
	ordinary := e.request()
	ordinary.Scope = ordinary.Scope.Without(alpha, "down")
	e.takeWith(s, 2, ordinary)
	probe := e.request()
	probe.Limit, probe.Probe = 1, true
	probe.Scope = e.targets("down")
	h := e.takeWith(s, 1, probe)[0]
	e.equal("probed", h.Destination, "down")
	e.noneWith(s, ordinary)
	// A probe that succeeded ends the pause: the rest is found.
	e.deliver(s, h)
	e.take(s, 1)
}
