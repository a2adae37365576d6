package postgres

import (
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// orderChecker knows what must hold of every claim and settlement, whatever runs at
// the same time. It judges only what is certain: an entry is there once the call that
// committed it has returned, and it is unsettled until a call that finishes it begins.
type orderChecker struct {
	mu        sync.Mutex
	unsettled map[string][]outbox.ID // certainly there, by aggregate
	committed map[outbox.ID]string   // every entry that must be delivered in the end
	grants    map[outbox.ID][]grant
	now       int // counts calls
	problems  []string
}

// grant is a claim that returned an entry.
type grant struct {
	lease      relay.LeaseID
	began, end int
}

// tick is a moment that comes after all moments before.
func (c *orderChecker) tick() int {
	c.now++
	return c.now
}

func newOrderChecker() *orderChecker {
	return &orderChecker{unsettled: map[string][]outbox.ID{}, committed: map[outbox.ID]string{}, grants: map[outbox.ID][]grant{}}
}

func (c *orderChecker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// isCommitted takes in entries after the call that committed them returned.
func (c *orderChecker) isCommitted(aggregate string, ids []outbox.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if _, known := c.committed[id]; known {
			continue // it was claimed before the commit returned
		}
		c.committed[id] = aggregate
		if aggregate != "" {
			c.unsettled[aggregate] = append(c.unsettled[aggregate], id)
		}
	}
}

// certain is what was certain when a claim began.
type certain struct {
	unsettled map[string][]outbox.ID
	began     int
}

// before is called before a claim.
func (c *orderChecker) before() certain {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := make(map[string][]outbox.ID, len(c.unsettled))
	for aggregate, ids := range c.unsettled {
		if len(ids) > 0 {
			known[aggregate] = slices.Clone(ids)
		}
	}
	return certain{known, c.tick()}
}

// claimed judges a claim by what was certain before it and still is.
func (c *orderChecker) claimed(before certain, limit int, batch relay.Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(batch.Records) > limit {
		c.problem("a claim of at most %d returned %d entries", limit, len(batch.Records))
	}
	position := make(map[outbox.ID]int, len(batch.Records))
	for i, r := range batch.Records {
		position[r.ID] = i
	}
	for i, r := range batch.Records {
		c.grants[r.ID] = append(c.grants[r.ID], grant{batch.Lease, before.began, c.tick()})
		for _, earlier := range before.unsettled[r.AggregateID] {
			if earlier >= r.ID || !slices.Contains(c.unsettled[r.AggregateID], earlier) {
				continue
			}
			if at, same := position[earlier]; !same || at > i {
				c.problem("entry %d of %q was claimed (lease %d) while entry %d was unsettled", r.ID, r.AggregateID, batch.Lease, earlier)
			}
		}
	}
}

// finishing says that a call begins that may finish an entry.
func (c *orderChecker) finishing(aggregate string, id outbox.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.committed[id] = aggregate
	c.unsettled[aggregate] = slices.DeleteFunc(c.unsettled[aggregate], func(other outbox.ID) bool { return other == id })
}

// moment is called before a settlement.
func (c *orderChecker) moment() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tick()
}

// settled judges what a settlement that began at a moment recorded: nothing under a
// lease after which the entry had been claimed again, from the beginning to the end.
func (c *orderChecker) settled(outcomes []relay.Outcome, began int, recorded []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range outcomes {
		held := 0 // when the claim that gave this lease was over
		for _, g := range c.grants[o.ID] {
			if g.lease == o.Lease {
				held = max(held, g.end)
			}
		}
		for _, g := range c.grants[o.ID] {
			if recorded[i] && g.lease != o.Lease && g.began > held && g.end < began {
				c.problem("an outcome of entry %d under lease %d was recorded after lease %d was given", o.ID, o.Lease, g.lease)
			}
		}
	}
}

// report returns what went wrong so far.
func (c *orderChecker) report() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems)
}
