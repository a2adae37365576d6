package storetest

import (
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var fencingChecks = []check{
	{"a lease that was taken back records nothing", nothing, fencedAfterReclaim},
	{"an expired lease is good until it is taken back", nothing, expiredStillGood},
	{"settling races recovery", nothing, settleRacesReclaim},
	{"outcomes of one claim race each other", nothing, outcomesRace},
	{"a claim of another time records nothing", nothing, fencedAfterRelease},
}

// expire lets the leases of claimed entries run out.
func (e *env) expire(list ...held) {
	e.Helper()
	seen := map[relay.LeaseID]bool{}
	var leases []relay.LeaseID
	for _, h := range list {
		if !seen[h.lease] {
			leases = append(leases, h.lease)
		}
		seen[h.lease] = true
	}
	e.must(e.Table.AgeLeases(e.ctx, 48*time.Hour, leases...), "age leases")
}

// allKinds are the outcomes of an entry.
var allKinds = []relay.OutcomeKind{
	relay.Published, relay.Retried, relay.DeadLettered, relay.Deferred, relay.Released, relay.ReleasedBehind,
}

// refused checks that no outcome under an old claim changes the row.
func (e *env) refused(s relay.Session, old held) {
	e.Helper()
	before := e.row(old.ID)
	for _, kind := range allKinds {
		e.equal("recorded", e.settle(s, old.failed(kind, time.Hour)), []bool{false})
	}
	after := e.row(old.ID)
	e.equal("row", []any{after.State, after.Lease, after.Attempt, after.Claims, after.LastError, after.AvailableAt.UnixMicro()},
		[]any{before.State, before.Lease, before.Attempt, before.Claims, before.LastError, before.AvailableAt.UnixMicro()})
}

func fencedAfterReclaim(e *env) {
	e.publish(entry("a"))
	one, two := e.session("one"), e.session("two")
	old := e.take(one, 1)[0]
	e.expire(old)
	e.equal("taken back", e.reclaim(10).Returned, 1)
	e.refused(one, old)
	fresh := e.take(two, 1)[0]
	if fresh.lease == old.lease {
		e.Fatal("the lease of the first claim was given out again")
	}
	e.refused(one, old)
	e.deliver(two, fresh)
	e.refused(one, old)
	e.refused(two, fresh)
}

func fencedAfterRelease(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	old := e.take(s, 1)[0]
	e.release(s, old)
	fresh := e.take(s, 1)[0] // the same session claims the same entry again
	e.refused(s, old)
	zero := fresh
	zero.lease = 0
	e.refused(s, zero)
	e.deliver(s, fresh)
}

func expiredStillGood(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	e.expire(h)
	e.deliver(s, h)
	e.equal("taken back", e.reclaim(10).Returned, 0)
	e.equal("state", e.row(h.ID).State, outbox.Published)
}

// settleRacesReclaim runs a settlement and a recovery of the same lease at once: the
// entry is published if and only if the settlement says so.
func settleRacesReclaim(e *env) {
	s := e.session("one")
	for range rounds(40) {
		id := e.publish(entry(""))[0]
		h := e.take(s, 1)[0]
		e.expire(h)
		var recorded []bool
		var settleErr, reclaimErr error
		var wg sync.WaitGroup
		wg.Go(func() { recorded, settleErr = s.Settle(e.ctx, []relay.Outcome{h.outcome(relay.Published)}, nil) })
		wg.Go(func() { _, reclaimErr = e.Maintenance.Reclaim(e.ctx, 10, 1000) })
		wg.Wait()
		e.must(settleErr, "settle")
		e.must(reclaimErr, "reclaim")
		want := outbox.Pending
		if recorded[0] {
			want = outbox.Published
		} else {
			e.reclaim(10) // a recovery skips what is locked
		}
		r := e.row(id)
		e.equal("state", r.State, want)
		e.equal("published time is set", !r.PublishedAt.IsZero(), recorded[0])
		if !recorded[0] {
			e.deliver(s, e.take(s, 1)...)
		}
	}
}

// outcomesRace settles one claim in three ways at once: one is recorded, and the row
// shows that one.
func outcomesRace(e *env) {
	s := e.session("one")
	kinds := []relay.OutcomeKind{relay.Published, relay.DeadLettered, relay.Retried}
	states := []outbox.State{outbox.Published, outbox.DeadLetter, outbox.Pending}
	for range rounds(30) {
		id := e.publish(entry(""))[0]
		h := e.take(s, 1)[0]
		won := make([]bool, len(kinds))
		var wg sync.WaitGroup
		for i, kind := range kinds {
			wg.Go(func() {
				o := h.outcome(kind)
				if kind != relay.Published {
					o = h.failed(kind, time.Hour)
				}
				recorded, err := s.Settle(e.ctx, []relay.Outcome{o}, nil)
				if err != nil {
					e.Errorf("settle: %v", err)
					return
				}
				won[i] = recorded[0]
			})
		}
		wg.Wait()
		winner := -1
		for i := range won {
			if won[i] && winner >= 0 {
				e.Fatal("two outcomes of one claim were recorded")
			}
			if won[i] {
				winner = i
			}
		}
		if winner < 0 {
			e.Fatal("no outcome was recorded")
		}
		r := e.row(id)
		e.equal("state", r.State, states[winner])
		e.equal("published time is set", !r.PublishedAt.IsZero(), winner == 0)
		e.equal("time of death is set", !r.DeadLetteredAt.IsZero(), winner == 1)
		e.equal("error is set", r.LastError != "", winner != 0)
	}
}
