package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var cleanupChecks = []check{
	{"only what is finished and old is deleted", nothing, cleanupTable},
	{"age counts from the end, not from the creation", nothing, cleanupAge},
	{"a batch is a batch, and batches catch up", nothing, cleanupBatches},
	{"inbox markers go by their own age", nothing, cleanupInbox},
	{"cleanups at once share the work", nothing, cleanupTogether},
}

const day = 24 * time.Hour

// deleter is one of the calls that delete.
type deleter func(ctx context.Context, age time.Duration, batch int) (int, error)

func (e *env) remove(d deleter, age time.Duration, batch int) int {
	e.Helper()
	n, err := d(e.ctx, age, batch)
	e.must(err, "delete")
	return n
}

// finish publishes n entries and ends them with an outcome.
func (e *env) finish(n int, kind relay.OutcomeKind) []outbox.ID {
	e.Helper()
	list := e.publish(entries(n, "")...)
	s := e.session("one")
	for _, h := range e.take(s, n) {
		o := h.outcome(kind)
		if kind != relay.Published {
			o = h.failed(kind, time.Hour)
		}
		e.settled(s, o)
	}
	return list
}

func cleanupTable(e *env) {
	pending := e.publish(entry(""))
	processing := e.take(e.session("holder"), 1)
	waiting := e.finish(1, relay.Retried)
	published, young := e.finish(1, relay.Published), e.finish(1, relay.Published)
	dead, youngDead := e.finish(1, relay.DeadLettered), e.finish(1, relay.DeadLettered)
	pending = append(pending, e.publish(entry(""))...)
	for _, list := range [][]outbox.ID{pending, ids(processing), waiting, published, dead} {
		e.must(e.Table.Age(e.ctx, 400*day, list...), "age")
	}
	e.must(e.Table.Age(e.ctx, 5*day, young[0], youngDead[0]), "age")
	e.equal("published deleted", e.remove(e.Maintenance.DeletePublished, 7*day, 100), 1)
	e.equal("dead letters deleted", e.remove(e.Maintenance.DeleteDeadLetters, 30*day, 100), 1)
	rows := e.rows()
	for _, id := range []outbox.ID{published[0], dead[0]} {
		if _, there := rows[id]; there {
			e.Errorf("entry %d is still there", id)
		}
	}
	e.equal("rows left", len(rows), 5)
	e.equal("younger published deleted", e.remove(e.Maintenance.DeletePublished, 4*day, 100), 1)
	e.equal("younger dead letters deleted", e.remove(e.Maintenance.DeleteDeadLetters, 0, 100), 1)
	for _, r := range e.rows() {
		if r.State.Settled() {
			e.Errorf("entry %d is left as %s", r.ID, r.State)
		}
	}
}

// cleanupAge finishes today what was created long ago.
func cleanupAge(e *env) {
	list := e.publish(entry("a"), entry("b"))
	e.must(e.Table.Age(e.ctx, 400*day, list...), "age")
	s := e.session("one")
	got := e.take(s, 2)
	e.settled(s, got[0].outcome(relay.Published), got[1].failed(relay.DeadLettered, 0))
	e.equal("published deleted", e.remove(e.Maintenance.DeletePublished, 7*day, 100), 0)
	e.equal("dead letters deleted", e.remove(e.Maintenance.DeleteDeadLetters, 7*day, 100), 0)
	e.equal("rows", len(e.rows()), 2)
	// The two calls do not touch each other's entries.
	e.must(e.Table.Age(e.ctx, 8*day, list...), "age")
	e.equal("published deleted", e.remove(e.Maintenance.DeletePublished, 7*day, 100), 1)
	e.equal("state of the other", e.row(got[1].ID).State, outbox.DeadLetter)
}

func cleanupBatches(e *env) {
	list := e.finish(25, relay.Published)
	young := e.finish(30, relay.Published) // match the scan, must not hide the others
	e.must(e.Table.Age(e.ctx, 6*day, young...), "age")
	e.must(e.Table.Age(e.ctx, 8*day, list...), "age")
	for _, want := range []int{10, 10, 5, 0} {
		e.equal("deleted", e.remove(e.Maintenance.DeletePublished, 7*day, 10), want)
	}
	e.equal("rows", len(e.rows()), 30)
}

func cleanupInbox(e *env) {
	old := []inbox.Message{{ID: "1", Source: "s"}, {ID: "2", Source: "s"}, {ID: "1", Source: "t"}}
	young := inbox.Message{ID: "3", Source: "s"}
	e.inTx(func(tx Tx) {
		for _, m := range old {
			e.once(tx, m)
		}
	})
	e.must(e.Table.AgeInbox(e.ctx, 31*day), "age inbox")
	e.inTx(func(tx Tx) { e.once(tx, young) })
	open := e.begin()
	e.once(open, inbox.Message{ID: "open", Source: "s"})

	e.equal("deleted", e.remove(e.Maintenance.DeleteInbox, 32*day, 100), 0)
	e.equal("deleted", e.remove(e.Maintenance.DeleteInbox, 30*day, 2), 2)
	e.equal("deleted", e.remove(e.Maintenance.DeleteInbox, 30*day, 2), 1)
	e.equal("deleted", e.remove(e.Maintenance.DeleteInbox, 30*day, 2), 0)
	e.must(open.Commit(e.ctx), "commit")
	e.inTx(func(tx Tx) {
		e.equal("the young one is new", e.once(tx, young), false)
		e.equal("an old one is new", e.once(tx, old[0]), true)
	})
}

func cleanupTogether(e *env) {
	const n = 60
	e.must(e.Table.Age(e.ctx, 8*day, e.finish(n, relay.Published)...), "age")
	keep := e.publish(entry(""))
	var deleted atomic.Int32
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range n {
				got, err := e.Maintenance.DeletePublished(e.ctx, 7*day, 7)
				if err != nil {
					e.Errorf("delete: %v", err)
					return
				}
				deleted.Add(int32(got))
			}
		})
	}
	wg.Wait()
	e.equal("deleted", deleted.Load(), n)
	e.equal("row left", e.row(keep[0]).State, outbox.Pending)
}
