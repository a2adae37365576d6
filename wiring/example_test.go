package wiring_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/migrationonly"
	"github.com/satchel-go/satchel/wiring/serviceonly"
)

// A service with functions of its own as destinations: the tables are migrated, an entry is
// published, the application delivers it and ends in order.
func Example() {
	url, done := emptyDatabase() // a service takes it from its environment
	defer done()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute) // or signal.NotifyContext
	defer stop()
	tree := config.Default() // or settings.Load
	tree.DB.Schemas.InboxOutbox = "messaging"
	in := wiring.Inputs{Database: wiring.Database{URL: url}}

	migration, cleanup, err := migrationonly.New(tree, in)
	check(err)
	check(migration.Apply(ctx))
	cleanup()

	registry := service.NewRegistry()
	check(service.Handle(registry, greet, func(_ context.Context, name string) error {
		fmt.Println("hello,", name)
		stop() // the example has seen enough
		return nil
	}, service.HandlerOptions{}))
	rt, cleanup, err := serviceonly.New(tree, in, registry, service.Config{})
	check(err)
	defer cleanup()

	check(pgx.BeginFunc(ctx, rt.Pool, func(tx pgx.Tx) error {
		_, err := service.Send(ctx, rt.Publisher, tx, greet, "Ada")
		return err
	}))
	fmt.Println("ended:", rt.App.Run(ctx))
	// Output:
	// hello, Ada
	// ended: <nil>
}

// Run ends with its context, and may be called again. The cleanup function ends a run that is
// under way, waits for it, and then closes what it used.
func ExampleApp_Run() {
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://app@127.0.0.1:1/app"}} // not there, and not needed
	rt, cleanup, err := serviceonly.New(config.Default(), in, service.NewRegistry(), service.Config{})
	check(err)

	ctx, stop := context.WithCancel(context.Background())
	stop() // as a signal does
	fmt.Println("ended:", rt.App.Run(ctx))

	cleanup()
	fmt.Println(errors.Is(rt.App.Run(context.Background()), wiring.ErrClosed))
	// Output:
	// ended: <nil>
	// true
}

// A prefix other than the reserved one would let applications publish headers that an adapter
// overwrites.
func ExampleInputs_AdapterPrefix() {
	in := wiring.Inputs{ReservedPrefix: "acme-"}
	fmt.Println(in.AdapterPrefix("kafka reserved prefix", ""))
	_, err := in.AdapterPrefix("kafka reserved prefix", outbox.DefaultReservedPrefix)
	fmt.Println(err)
	// Output:
	// acme- <nil>
	// satchel: kafka reserved prefix is not the reserved prefix of the publishers
}

// A password in a connection string does not show.
func ExampleSecret() {
	db := wiring.Database{URL: "postgres://app:hunter2@db.example/app"}
	fmt.Printf("%v %+v\n", db.URL, db)
	// Output: [redacted] {URL:[redacted] ListenURL:[redacted]}
}
