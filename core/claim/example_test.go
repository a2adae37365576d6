package claim_test

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

// A node that reaches every topic, two gateways, and no job queue.
func ExampleResolve() {
	snapshot, err := claim.Resolve(claim.Capabilities{
		destination.Kafka: claim.All(),
		"SMS":             claim.Targets(func() []string { return []string{"gateway-b", "gateway-a"} }),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(snapshot.Allows(destination.Kafka, "orders"))
	fmt.Println(snapshot.Allows("SMS", "gateway-a"), snapshot.Allows("SMS", "gateway-c"))
	fmt.Println(snapshot.Allows(destination.DelayedJob, "mail"))
	// Output:
	// true
	// true false
	// false
}

// One supplier that misbehaves stops the whole cycle: nothing is claimed for any type.
func ExampleError() {
	snapshot, err := claim.Resolve(claim.Capabilities{
		destination.Kafka: claim.All(),
		"SMS":             claim.Targets(func() []string { return []string{"gateway-a", " "} }),
	})
	var scope *claim.Error
	fmt.Println(errors.As(err, &scope), scope.Type, scope.Reason == claim.BlankElement, snapshot.Empty())
	fmt.Println(err)
	// Output:
	// true SMS true true
	// satchel: claim scope of type SMS: contains an empty or blank element
}

func ExampleAll() {
	snapshot, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})
	fmt.Println(snapshot.Allows(destination.Kafka, "any topic"))
	// Output: true
}

// The set may change while the relay runs: it is asked for once per claim.
func ExampleTargets() {
	connected := []string{}
	caps := claim.Capabilities{"SMS": claim.Targets(func() []string { return connected })}

	snapshot, _ := claim.Resolve(caps)
	fmt.Println("nothing is claimed:", snapshot.Empty())

	connected = append(connected, "gateway-a")
	snapshot, _ = claim.Resolve(caps)
	fmt.Println(snapshot.Types()[0].Targets)
	// Output:
	// nothing is claimed: true
	// [gateway-a]
}

// What a relay does while a destination is down: claim without it, then probe it alone.
func ExampleSnapshot_Without() {
	snapshot, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All()})

	rest := snapshot.Without(destination.Kafka, "orders")
	fmt.Println(rest.Allows(destination.Kafka, "orders"), rest.Allows(destination.Kafka, "invoices"))

	probe := snapshot.Exactly(destination.Kafka, "orders")
	fmt.Println(probe.Allows(destination.Kafka, "orders"), probe.Allows(destination.Kafka, "invoices"))
	// Output:
	// false true
	// true false
}

func ExampleSnapshot_Only() {
	snapshot, _ := claim.Resolve(claim.Capabilities{destination.Kafka: claim.All(), destination.HTTP: claim.All()})
	for _, scope := range snapshot.Only(destination.HTTP).Types() {
		fmt.Println(scope.Type, scope.All)
	}
	// Output: HTTP true
}

// A store that remembers how far it has read asks whether that still holds.
func ExampleTypeScope_Widens() {
	before := claim.TypeScope{Type: "SMS", Targets: []string{"gateway-a"}}
	now := claim.TypeScope{Type: "SMS", Targets: []string{"gateway-a", "gateway-b"}}
	fmt.Println(now.Widens(before), before.Widens(now))
	// Output: true false
}
