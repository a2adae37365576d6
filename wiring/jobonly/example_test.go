package jobonly_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/jobonly"
)

var sendInvoice = delayedjob.MustJob[int]("invoice.send", delayedjob.Defaults{Queue: "mail"})

// The Redis client stays the application's to close, after the cleanup. Configuration can move
// a job to another queue.
func ExampleNew() {
	options := delayedjob.FailFast(redis.Options{Addr: "redis.example:6379"})
	client := redis.NewClient(&options)
	defer client.Close()
	registry, err := delayedjob.NewRegistry(sendInvoice.ID())
	if err != nil {
		fmt.Println(err)
		return
	}
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://app@db.example/app"}}
	rt, cleanup, err := jobonly.New(config.Default(), in,
		delayedjob.Config{Client: client, Registry: registry},
		delayedjob.Overrides{"invoice.send": {Queue: "billing"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cleanup()
	fmt.Println(rt.Jobs != nil) // is what delayedjob.Publish takes
	// Output: true
}
