package relay_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// A delivered entry stays, moves to the archive, or goes.
func ExampleOnPublished() {
	for _, what := range []relay.OnPublished{relay.Keep, relay.Archive, relay.Delete} {
		store := memstore.New(memstore.Config{})
		if err := printed(store, "order.placed"); err != nil {
			fmt.Println(err)
		}
		r, err := relay.New(store, []delivery.Handler{outboxtest.NewRecorder("PRINT")}, relay.Config{OnPublished: what})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = r.Drain(context.Background())
		fmt.Print(what, ":")
		for _, row := range store.Rows() {
			fmt.Print(" ", row.State, ", archived ", row.Archived)
		}
		fmt.Println()
	}
	// Output:
	// KEEP: PUBLISHED, archived false
	// ARCHIVE: PUBLISHED, archived true
	// DELETE:
}

// Settings can be checked before anything is started.
func ExampleConfig_Validate() {
	fmt.Println(relay.Config{}.Validate()) // every default is in place
	fmt.Println(relay.Config{
		LeaseTimeout: 100 * time.Millisecond,
		BackoffBase:  time.Minute,
		BackoffMax:   time.Second,
	}.Validate())
	// Output:
	// <nil>
	// satchel: relay leaseTimeout is shorter than 300ms
	// satchel: relay backoffMax is shorter than backoffBase
}

// The owner is the name of a relay in the database and in its log. The default one is
// different for every relay.
func ExampleRelay_Owner() {
	store := memstore.New(memstore.Config{})
	named, err := relay.New(store, nil, relay.Config{Owner: "orders-1"})
	fmt.Println(named.Owner(), err)

	one, _ := relay.New(store, nil, relay.Config{})
	two, _ := relay.New(store, nil, relay.Config{})
	fmt.Println(one.Owner() == two.Owner())
	// Output:
	// orders-1 <nil>
	// false
}
