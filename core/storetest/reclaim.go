package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var reclaimChecks = []check{
	{"an expired lease is taken back, whatever its type", nothing, reclaimReturns},
	{"a lease that holds is left alone", nothing, reclaimFresh},
	{"only what is still held comes back", nothing, reclaimPartial},
	{"a batch is a batch", nothing, reclaimBatch},
	{"fresh leases do not hide an expired one", nothing, reclaimBehindFresh},
	{"an entry that was claimed too often is given up", nothing, reclaimBound},
	{"recoveries at once share the work", nothing, reclaimTogether},
}

// unbounded is a number of claims that no check reaches.
const unbounded = 1000

func (e *env) reclaim(batch int) maintenance.Reclaimed {
	e.Helper()
	r, err := e.Maintenance.Reclaim(e.ctx, batch, unbounded)
	e.must(err, "reclaim")
	return r
}

// reclaimBound takes everything back and gives up what was claimed that often.
func (e *env) reclaimBound(maxClaims int) maintenance.Reclaimed {
	e.Helper()
	r, err := e.Maintenance.Reclaim(e.ctx, 1000, maxClaims)
	e.must(err, "reclaim")
	return r
}

func reclaimReturns(e *env) {
	list := e.publish(entry("a"), with(entry("b"), func(x *outbox.Entry) { x.DestinationType = "UNKNOWN" }))
	e.must(e.Table.Age(e.ctx, time.Hour, list...), "age")
	before := e.rows()
	s := e.session("one")
	req := e.request()
	req.Scope = e.scope(claim.Capabilities{alpha: claim.All(), "UNKNOWN": claim.All()})
	got := e.takeWith(s, 2, req)
	e.expire(got...)
	e.equal("returned", e.reclaim(10).Returned, 2)
	for id, r := range e.rows() {
		e.equal("state", r.State, outbox.Pending)
		e.equal("lease", r.Lease, 0)
		e.equal("attempt and claims", []int{r.Attempt, r.Claims}, []int{0, 1})
		if r.AvailableAt.Before(before[id].AvailableAt.Add(30 * time.Minute)) {
			e.Errorf("entry %d is due as before, so a session that passed it does not see it", id)
		}
	}
	e.equal("lost", len(e.renew(s, got[0].lease)), 1)
	e.takeWith(e.session("two"), 2, req)
	e.equal("nothing left", e.reclaim(10), maintenance.Reclaimed{})
}

func reclaimFresh(e *env) {
	e.equal("empty store", e.reclaim(10), maintenance.Reclaimed{})
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	e.must(e.Table.AgeLeases(e.ctx, 50*time.Minute, h.lease), "age leases")
	e.must(e.Table.Age(e.ctx, 400*24*time.Hour, h.ID), "age") // only the lease counts
	e.equal("taken back", e.reclaim(10), maintenance.Reclaimed{})
	e.deliver(s, h)
}

func reclaimPartial(e *env) {
	e.publish(entries(4, "")...)
	s := e.session("one")
	got := e.take(s, 4)
	e.settled(s, got[0].outcome(relay.Published), got[1].failed(relay.Retried, time.Hour), got[2].failed(relay.DeadLettered, 0))
	before := e.rows()
	e.expire(got...)
	e.equal("returned", e.reclaim(10).Returned, 1)
	after := e.rows()
	for _, h := range got[:3] {
		e.equal("row", []any{after[h.ID].State, after[h.ID].AvailableAt.UnixMicro()},
			[]any{before[h.ID].State, before[h.ID].AvailableAt.UnixMicro()})
	}
	e.equal("the held one", after[got[3].ID].State, outbox.Pending)
}

func reclaimBatch(e *env) {
	e.publish(entries(5, "")...)
	s := e.session("one")
	for range 5 {
		e.expire(e.take(s, 1)...)
	}
	for _, want := range []int{2, 2, 1, 0} {
		e.equal("leases", e.reclaim(2), maintenance.Reclaimed{Leases: want, Returned: want})
	}
}

func reclaimBehindFresh(e *env) {
	const batch = 3
	e.publish(entries(3*batch+2, "")...)
	s := e.session("one")
	for range 3 * batch {
		e.take(s, 1)
	}
	e.expire(e.take(s, 1)[0], e.take(s, 1)[0])
	e.equal("taken back at once", e.reclaim(batch).Returned, 2)
}

func reclaimBound(e *env) {
	const bound = 3
	list := e.publish(entry("a"), entry("a"), entry("b"))
	s := e.session("one")
	for i := 1; i <= bound; i++ {
		got := e.take(s, 2)
		if i == 2 { // the healthy one has an outcome in between
			for _, h := range got {
				if h.AggregateID == "b" {
					e.settled(s, h.failed(relay.Retried, 0))
				}
			}
		}
		e.expire(got...)
		r := e.reclaimBound(bound)
		e.equal("given up", r.DeadLettered, i/bound)
		e.equal("state of the poison entry", e.row(list[0]).State == outbox.DeadLetter, i == bound)
	}
	dead := e.row(list[0])
	e.equal("attempt", dead.Attempt, 0)
	e.equal("time of death is set", !dead.DeadLetteredAt.IsZero(), true)
	if !strings.Contains(dead.LastError, "3") {
		e.Errorf("the last error %q does not say how often the entry was claimed", dead.LastError)
	}
	e.equal("the healthy one", e.row(list[2]).State, outbox.Pending)
	// What the poison entry held back can go.
	seen := map[outbox.ID]bool{}
	for _, h := range e.take(e.session("two"), 2) {
		seen[h.ID] = true
	}
	e.equal("claimed", seen, map[outbox.ID]bool{list[1]: true, list[2]: true})
}

func reclaimTogether(e *env) {
	const n = 20
	e.publish(entries(n, "")...)
	s := e.session("one")
	for range n {
		e.expire(e.take(s, 1)...)
	}
	var returned, leases atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n {
				r, err := e.Maintenance.Reclaim(e.ctx, 3, unbounded)
				if err != nil {
					e.Errorf("reclaim: %v", err)
					return
				}
				returned.Add(int32(r.Returned))
				leases.Add(int32(r.Leases))
			}
		})
	}
	wg.Wait()
	e.equal("returned and leases", []int32{returned.Load(), leases.Load()}, []int32{n, n})
	for id, r := range e.rows() {
		e.equal("claims", r.Claims, 1)
		if r.State != outbox.Pending {
			e.Errorf("entry %d is %s", id, r.State)
		}
	}
}
