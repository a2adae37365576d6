package delayedjob_test

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

type Invoice struct {
	Order int `json:"order"`
}

// The contract is shared by the code that publishes the job and the code that runs it.
var sendInvoice = delayedjob.MustJob[Invoice]("invoice.send", delayedjob.Defaults{Queue: "mail", MaxAttempts: 5})

// A job goes from a transaction through the relay and Redis to a worker. A service
// uses the store of its database and its own Redis instead.
func Example() {
	ctx := context.Background()
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	options := delayedjob.FailFast(redis.Options{Addr: server.Addr()})
	client := redis.NewClient(&options)
	defer client.Close()

	// The worker.
	ran := make(chan int)
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		log.Fatal(err)
	}
	if err := delayedjob.HandleFunc(mux, sendInvoice, func(ctx context.Context, in Invoice) error {
		ran <- in.Order
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	worker := asynq.NewServerFromRedisClient(client, asynq.Config{Queues: delayedjob.Queues("mail"), LogLevel: asynq.FatalLevel})
	if err := worker.Start(mux); err != nil {
		log.Fatal(err)
	}
	defer worker.Shutdown()

	// The transaction.
	store := memstore.New(memstore.Config{})
	jobs, err := delayedjob.NewPublisher(memstore.NewPublisher(store, outbox.Config{}), nil)
	if err != nil {
		log.Fatal(err)
	}
	tx := store.Begin()
	if _, err := delayedjob.Publish(ctx, jobs, tx, sendInvoice, Invoice{Order: 7}); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}

	// The relay.
	registry, err := delayedjob.NewRegistry(sendInvoice.ID())
	if err != nil {
		log.Fatal(err)
	}
	handler, err := delayedjob.NewHandler(delayedjob.Config{Client: client, Registry: registry})
	if err != nil {
		log.Fatal(err)
	}
	r, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := r.Drain(ctx); err != nil {
		log.Fatal(err)
	}

	fmt.Println("invoice sent for order", <-ran)
	// Output: invoice sent for order 7
}

// Each base queue becomes one queue for each band of priorities.
func ExampleQueues() {
	queues := delayedjob.Queues("mail")
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		fmt.Println(name, queues[name])
	}
	// Output:
	// mail 3
	// mail:high 6
	// mail:low 1
}

func ExampleBands_Queue() {
	bands := delayedjob.Bands{
		{Min: 0, Suffix: "", Weight: 1},
		{Min: 100, Suffix: ":urgent", Weight: 20},
	}
	fmt.Println(bands.Queue("mail", 5), bands.Queue("mail", 250), bands.Queue("mail", -1))
	// Output: mail mail:urgent mail
}
