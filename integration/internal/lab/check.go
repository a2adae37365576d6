package lab

import (
	"context"
	"fmt"
	"testing"
)

// history is what a journal says, read from its beginning.
type history struct {
	order    map[string][]int64 // the entries of each aggregate, in the order in which they must be delivered
	running  map[string]Event   // by aggregate
	since    map[string]int     // position of the event in running
	settled  map[int64]Event    // entries that were delivered or died, by their last such event
	killed   map[string]int     // when a node was killed
	amnesty  int                // when everything was last forgiven
	when     map[int64]int      // position of the event in settled
	message  map[int64]string   // what the table says
	repeated map[string]int     // deliveries that had to be repeated, by the node that was killed
	problems []string
}

// Check compares the journal with the tables and the guarantees: every business row was delivered, in the order of its
// aggregate, with no overlap, always with the message id that the row has; what was delivered twice was in flight on a
// node that was killed in between, and no more than limit entries per node. Entries without aggregate have no order.
func (j *Journal) Check(t testing.TB, q Querier, limit int) {
	t.Helper()
	h := &history{
		order: map[string][]int64{}, running: map[string]Event{}, since: map[string]int{}, settled: map[int64]Event{}, killed: map[string]int{},
		amnesty: -1, when: map[int64]int{}, message: map[int64]string{}, repeated: map[string]int{},
	}
	h.load(t, q)
	for i, e := range j.Events(t) {
		h.event(i, e)
	}
	for id := range h.message {
		if _, ok := h.settled[id]; !ok {
			h.problem("entry %d was never delivered", id)
		}
	}
	for node, n := range h.repeated {
		if n > limit {
			h.problem("%d deliveries of node %s were repeated, more than it can have had in flight", n, node)
		}
	}
	for i, p := range h.problems {
		if i == 10 {
			t.Errorf("and %d more problems", len(h.problems)-i)
			break
		}
		t.Error(p)
	}
}

func (h *history) problem(format string, args ...any) {
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

// load reads the entries, and compares them with the business rows.
func (h *history) load(t testing.TB, q Querier) {
	t.Helper()
	odd := Value[int](t, q, `SELECT count(*) FROM business b
		FULL JOIN (SELECT * FROM outbox WHERE aggregate_id IS NOT NULL) o ON o.aggregate_id = b.aggregate AND (o.payload->>'n')::int = b.n
		WHERE (b.n IS NULL) <> (o.id IS NULL)`)
	if odd != 0 {
		h.problem("%d business rows or entries are without the other", odd)
	}
	rows, err := q.Query(context.Background(), `SELECT id, COALESCE(aggregate_id, ''), carrier_id::text FROM outbox ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var aggregate, message string
		if err := rows.Scan(&id, &aggregate, &message); err != nil {
			t.Fatal(err)
		}
		h.message[id] = message
		if aggregate != "" {
			h.order[aggregate] = append(h.order[aggregate], id)
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
}

func (h *history) event(i int, e Event) {
	switch e.Kind {
	case Killed:
		h.killed[e.Node] = i
	case Amnesty:
		h.amnesty = i
	case Began:
		h.began(i, e)
	default:
		if e.Aggregate != "" && h.running[e.Aggregate].Node == e.Node {
			delete(h.running, e.Aggregate)
		}
		if e.Kind != Failed {
			h.settled[e.Entry], h.when[e.Entry] = e, i
		}
	}
}

func (h *history) began(i int, e Event) {
	if want, known := h.message[e.Entry]; !known {
		h.problem("entry %d was delivered and is not in the table", e.Entry)
	} else if want != e.Message {
		h.problem("entry %d was delivered with another message id than it has", e.Entry)
	}
	if before, again := h.settled[e.Entry]; again {
		death, dead := h.killed[before.Node]
		switch {
		case dead && h.when[e.Entry] < death:
			h.repeated[before.Node]++
		case h.when[e.Entry] > h.amnesty:
			h.problem("entry %d was delivered again by %s, though %s, which had delivered it, lives", e.Entry, e.Node, before.Node)
		}
	}
	if e.Aggregate == "" {
		return
	}
	if other, busy := h.running[e.Aggregate]; busy && h.since[e.Aggregate] > h.amnesty {
		if _, dead := h.killed[other.Node]; !dead {
			h.problem("entry %d began on %s while entry %d of its aggregate ran on %s", e.Entry, e.Node, other.Entry, other.Node)
		}
	}
	h.running[e.Aggregate], h.since[e.Aggregate] = e, i
	for _, id := range h.order[e.Aggregate] {
		if id == e.Entry {
			break
		}
		if _, ok := h.settled[id]; !ok {
			h.problem("entry %d began before entry %d of its aggregate was settled", e.Entry, id)
			break
		}
	}
}
