package storetest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/outbox"
)

// checker watches deliveries and knows when one must not start: while another entry
// of its aggregate is being delivered, and while an earlier one is unsettled.
//
// It learns that an entry is finished just before the store does, since another node
// may start the next one before the call that settles this one returns. So it is
// lenient for the length of a call, never wrong in the other direction.
type checker struct {
	mu        sync.Mutex
	unsettled map[string][]outbox.ID // ascending
	inFlight  map[string]outbox.ID
	problems  []string
}

func newChecker() *checker {
	return &checker{unsettled: map[string][]outbox.ID{}, inFlight: map[string]outbox.ID{}}
}

// expect says that entries exist. It is called before their transaction commits.
func (c *checker) expect(aggregate string, list ...outbox.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsettled[aggregate] = append(c.unsettled[aggregate], list...)
	slices.Sort(c.unsettled[aggregate])
}

// start says that the delivery of an entry begins.
func (c *checker) start(h held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.AggregateID == "" {
		return
	}
	if other, busy := c.inFlight[h.AggregateID]; busy {
		c.problems = append(c.problems, fmt.Sprintf("entry %d started while entry %d of its aggregate was in flight", h.ID, other))
	}
	c.inFlight[h.AggregateID] = h.ID
	if first := c.unsettled[h.AggregateID]; len(first) == 0 || first[0] != h.ID {
		c.problems = append(c.problems, fmt.Sprintf("entry %d started, unsettled are %v", h.ID, first))
	}
}

// end says that the delivery of an entry is over; finished, that it will be settled.
func (c *checker) end(h held, finished bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inFlight, h.AggregateID)
	if finished {
		list := c.unsettled[h.AggregateID]
		c.unsettled[h.AggregateID] = slices.DeleteFunc(list, func(id outbox.ID) bool { return id == h.ID })
	}
}

// left returns how many entries are unsettled.
func (c *checker) left() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.unsettled {
		n += len(list)
	}
	return n
}

// report returns what went wrong.
func (c *checker) report() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems)
}
