package storetest

import (
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
)

var healChecks = []check{
	{"damage is repaired", nothing, healDamage},
	{"healthy entries are left alone", nothing, healHealthy},
	{"windows follow each other and start over", nothing, healWindows},
	{"a repaired entry holds back nothing", nothing, healUnblocks},
}

func (e *env) heal(window int) maintenance.Healed {
	e.Helper()
	h, err := e.Maintenance.Heal(e.ctx, window)
	e.must(err, "heal")
	return h
}

// damaged claims one entry and breaks it.
func (e *env) damaged(how Damage, aggregate string) outbox.ID {
	e.Helper()
	id := e.publish(entry(aggregate))[0]
	e.equal("claimed", ids(e.take(e.session("victim"), 1)), []outbox.ID{id})
	e.must(e.Table.Break(e.ctx, id, how), "break")
	return id
}

func healDamage(e *env) {
	lost := e.damaged(LoseLease, "a")
	published := e.damaged(UnmarkedPublished, "b")
	dead := e.damaged(UnmarkedDeadLetter, "c")
	e.equal("healed", e.heal(100), maintenance.Healed{Examined: 3, Repaired: 3})
	rows := e.rows()
	e.equal("lost lease", rows[lost].State, outbox.Pending)
	e.equal("lost lease: attempt", rows[lost].Attempt, 0)
	e.equal("published", rows[published].State, outbox.Published)
	e.equal("published time is set", !rows[published].PublishedAt.IsZero(), true)
	e.equal("dead letter", rows[dead].State, outbox.DeadLetter)
	e.equal("time of death is set", !rows[dead].DeadLetteredAt.IsZero(), true)
	e.equal("healed again", e.heal(100).Repaired, 0)
	e.equal("claimed", ids(e.take(e.session("one"), 1)), []outbox.ID{lost})
}

func healHealthy(e *env) {
	e.equal("empty store", e.heal(10), maintenance.Healed{})
	list := e.publish(entries(4, "")...)
	s := e.session("one")
	got := e.take(s, 3)
	e.deliver(s, got[0])
	e.expire(got[1]) // expired, but there: that is for Reclaim
	e.equal("healed", e.heal(10), maintenance.Healed{Examined: 3})
	e.deliver(s, got[1:]...)
	e.equal("state of the last", e.row(list[3]).State, outbox.Pending)
}

func healWindows(e *env) {
	e.publish(entries(6, "")...)
	s := e.session("one")
	e.take(s, 6)
	last := e.damaged(LoseLease, "")
	for i, want := range []maintenance.Healed{{Examined: 3}, {Examined: 3}, {Examined: 1, Repaired: 1}, {Examined: 3}} {
		got := e.heal(3)
		if got != want {
			e.Errorf("window %d: got %+v, want %+v", i, got, want)
		}
	}
	e.equal("state", e.row(last).State, outbox.Pending)
}

func healUnblocks(e *env) {
	for _, how := range []Damage{UnmarkedPublished, UnmarkedDeadLetter} {
		e.damaged(how, "a")
		next := e.publish(entry("a"))[0]
		e.none(e.session("one")) // the damaged one is unsettled
		e.equal("repaired after "+how.String(), e.heal(100).Repaired, 1)
		s := e.session("two")
		got := e.take(s, 1)
		e.equal("claimed", ids(got), []outbox.ID{next})
		e.deliver(s, got...)
	}
}
