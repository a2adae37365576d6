package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// OrderEvent is what happened to an order. Seq numbers the events of one order from 1,
// so that the consumer can see for itself whether they arrive in order.
type OrderEvent struct {
	OrderID string `json:"orderId"`
	Seq     int    `json:"seq"`
	Cents   int64  `json:"cents"`
}

// eventTypes says what the events of an order are, by Seq - 1.
var eventTypes = []string{"order.placed", "order.paid", "order.shipped"}

// eventType says what happened.
func (e OrderEvent) eventType() string { return eventTypes[e.Seq-1] }

// entry returns the outbox entry that takes the event to a destination. The order is
// its aggregate: its events are delivered one after another, wherever each goes.
func (e OrderEvent) entry(t destination.Type, name string) outbox.Entry {
	return outbox.Entry{
		DestinationType: t, Destination: name, EventType: e.eventType(),
		AggregateType: "Order", AggregateID: e.OrderID, Payload: e,
	}
}

// orderID names the order with the given number. Later orders have greater names.
func orderID(number int) string { return fmt.Sprintf("order-%07d", number) }

// byStep sends each of the three events of an order to a destination of its own.
type byStep struct{}

// steps are these destinations, by Seq - 1.
var steps = []string{"orders.billing", "orders.shipping", "orders.mail"}

func (byStep) names() []string           { return steps }
func (byStep) route(e OrderEvent) string { return steps[e.Seq-1] }

// nodeName names the relay node with the given number, counted from 0.
func nodeName(n int) string { return "node-" + strconv.Itoa(n+1) }

// hosted returns the destinations that a node serves, of the given three: two of them,
// so that no two neighbours serve the same and every destination has a node. A single
// node serves all.
func hosted(node, nodes int, names []string) []string {
	if nodes == 1 {
		return slices.Clone(names)
	}
	n := len(names)
	return []string{names[node%n], names[(node+1)%n]}
}

// victim is the node to kill: one that serves the last of the three destinations, where
// the last event of every order goes if each goes elsewhere. So it has work for as long
// as there is any.
func victim(nodes int) int { return min(nodes, 2) - 1 }
