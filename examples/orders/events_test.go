package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestEveryDestinationHasANode(t *testing.T) {
	t.Parallel()
	for nodes := 1; nodes <= mostNodes; nodes++ {
		served := map[string]int{}
		for n := range nodes {
			for _, name := range hosted(n, nodes, steps) {
				served[name]++
			}
		}
		for _, name := range steps {
			if served[name] == 0 {
				t.Errorf("%d nodes: nobody serves %s", nodes, name)
			}
		}
	}
}

func TestTwoNodesOverlapWithoutBeingAlike(t *testing.T) {
	t.Parallel()
	a, b := hosted(0, 2, steps), hosted(1, 2, steps)
	if !slices.Equal(a, []string{"orders.billing", "orders.shipping"}) || !slices.Equal(b, []string{"orders.shipping", "orders.mail"}) {
		t.Errorf("served %q and %q", a, b)
	}
}

func TestVictimServesTheLastDestination(t *testing.T) {
	t.Parallel()
	for nodes := 1; nodes <= mostNodes; nodes++ {
		if !slices.Contains(hosted(victim(nodes), nodes, steps), steps[len(steps)-1]) {
			t.Errorf("%d nodes: the node to be killed may run out of work", nodes)
		}
	}
}

func TestLaterOrdersHaveGreaterIDs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 9, 99, 9_999, 999_999} {
		if orderID(n) >= orderID(n+1) {
			t.Errorf("%s does not come before %s", orderID(n), orderID(n+1))
		}
	}
}

// Events go where their transport says, as one aggregate for each order.
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, name := range []string{Billing.ID(), Shipping.ID(), Mail.ID()} {
		e := OrderEvent{OrderID: "order-1", Seq: slices.Index(steps, name) + 1, Cents: 3}
		fromOperation := operations[name].Entry(e)
		if own := e.entry(destination.Service, byStep{}.route(e)); !sameEntry(own, fromOperation) {
			t.Errorf("%s: got %+v from the operation and %+v without", name, fromOperation, own)
		}
	}
}

func sameEntry(a, b outbox.Entry) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y) && a.AggregateID == "order-1"
}

// Kafka keeps order within a partition only.
func TestEventsOfAnOrderShareATopic(t *testing.T) {
	t.Parallel()
	v, err := openKafka("a_run")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]int{}
	for n := range 100 {
		first := v.route(OrderEvent{OrderID: orderID(n), Seq: 1})
		if first != v.route(OrderEvent{OrderID: orderID(n), Seq: 3}) {
			t.Fatalf("events of %s go to several topics", orderID(n))
		}
		used[first]++
	}
	for _, topic := range v.names() {
		if used[topic] < 20 {
			t.Errorf("%d of 100 orders go to %s", used[topic], topic)
		}
	}
}
