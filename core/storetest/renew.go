package storetest

import (
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var renewChecks = []check{
	{"a renewed lease does not expire", nothing, renewExtends},
	{"only the leases named are renewed", nothing, renewNamed},
	{"a lease that is gone is reported", nothing, renewLost},
	{"renewal races recovery", nothing, renewRacesReclaim},
	{"a claim is good for the time asked for", nothing, leaseLength},
}

// renew extends leases by an hour and returns those that are gone.
func (e *env) renew(s relay.Session, leases ...relay.LeaseID) []relay.LeaseID {
	e.Helper()
	lost, err := s.Renew(e.ctx, leases, time.Hour)
	e.must(err, "renew")
	return lost
}

func renewExtends(e *env) {
	e.publish(entries(3, "")...)
	s := e.session("one")
	got := e.take(s, 3)
	e.deliver(s, got[0]) // what is settled does not matter to the lease
	e.expire(got...)
	e.equal("lost", len(e.renew(s, got[1].lease, got[2].lease)), 0)
	e.equal("taken back", e.reclaim(10), maintenance.Reclaimed{})
	e.must(e.Table.AgeLeases(e.ctx, 59*time.Minute, got[1].lease), "age leases")
	e.equal("taken back before the end", e.reclaim(10), maintenance.Reclaimed{})
	e.deliver(s, got[1:]...)
}

func renewNamed(e *env) {
	e.publish(entries(2, "")...)
	s := e.session("one")
	first, second := e.take(s, 1)[0], e.take(s, 1)[0]
	e.expire(first, second)
	e.renew(s, second.lease)
	e.equal("taken back", e.reclaim(10), maintenance.Reclaimed{Leases: 1, Returned: 1})
	e.equal("first", e.row(first.ID).State, outbox.Pending)
	e.equal("second", e.row(second.ID).State, outbox.Processing)
}

func renewLost(e *env) {
	e.publish(entries(2, "")...)
	s := e.session("one")
	gone, kept := e.take(s, 1)[0], e.take(s, 1)[0]
	e.expire(gone)
	e.reclaim(10)
	unknown := kept.lease + 1000
	lost := e.renew(s, gone.lease, kept.lease, unknown)
	e.equal("number of lost leases", len(lost), 2)
	for _, id := range lost {
		if id != gone.lease && id != unknown {
			e.Errorf("lease %d is reported lost", id)
		}
	}
}

// renewRacesReclaim renews an expired lease while it is taken back: either it was
// extended, and its entry is still held, or it is reported lost.
func renewRacesReclaim(e *env) {
	s := e.session("one")
	for range rounds(30) {
		id := e.publish(entry(""))[0]
		h := e.take(s, 1)[0]
		e.expire(h)
		var lost []relay.LeaseID
		var renewErr, reclaimErr error
		var wg sync.WaitGroup
		wg.Go(func() { lost, renewErr = s.Renew(e.ctx, []relay.LeaseID{h.lease}, time.Hour) })
		wg.Go(func() { _, reclaimErr = e.Maintenance.Reclaim(e.ctx, 10, 1000) })
		wg.Wait()
		e.must(renewErr, "renew")
		e.must(reclaimErr, "reclaim")
		want := outbox.Processing
		if len(lost) > 0 {
			want = outbox.Pending
		}
		e.equal("state", e.row(id).State, want)
		e.equal("recorded", e.settle(s, h.outcome(relay.Published)), []bool{len(lost) == 0})
		if len(lost) > 0 {
			e.deliver(s, e.take(s, 1)...)
		}
	}
}

func leaseLength(e *env) {
	e.publish(entries(2, "")...)
	s := e.session("one")
	req := e.request()
	req.Lease = 50 * time.Millisecond
	h := e.takeWith(s, 1, req)[0]
	e.take(s, 1) // for an hour
	for deadline := time.Now().Add(patience); e.reclaim(10).Returned == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.Fatal("a lease of 50 ms was never taken back")
		}
	}
	e.equal("state", e.row(h.ID).State, outbox.Pending)
}
