package relay_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/relay"
)

// Deaf is a handler that does not listen to its context.
type Deaf struct{ started, release chan struct{} }

// Type is what it serves.
func (Deaf) Type() destination.Type { return "PRINT" }

// Scope is every destination of the type.
func (Deaf) Scope() claim.Scope { return claim.All() }

// Deliver hangs.
func (d Deaf) Deliver(context.Context, delivery.Envelope) error {
	close(d.started)
	<-d.release
	return nil
}

// A handler that ignores the end of its context cannot keep a relay from stopping, but its
// entry is named: it is delivered again, by another relay, once its lease has expired.
func ExampleStuckError() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New(memstore.Config{})
	if err := printed(store, "order.placed"); err != nil {
		fmt.Println(err)
	}
	deaf := Deaf{make(chan struct{}), make(chan struct{})}
	defer close(deaf.release)
	r, err := relay.New(store, []delivery.Handler{deaf}, relay.Config{DrainTimeout: 10 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()

	<-deaf.started
	stop()
	var stuck *relay.StuckError
	fmt.Println(errors.As(<-ended, &stuck), stuck.Entries, store.Rows()[0].State)
	// Output: true [1] PROCESSING
}
