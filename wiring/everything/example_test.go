package everything_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/everything"
)

// A service with every kind of destination. It goes on with rt.Migration.Verify and rt.App.Run.
func ExampleNew() {
	redisOptions := delayedjob.FailFast(redis.Options{Addr: "redis.example:6379"})
	client := redis.NewClient(&redisOptions)
	defer client.Close()
	jobs, err := delayedjob.NewRegistry("invoice.send")
	if err != nil {
		fmt.Println(err)
		return
	}
	services := service.NewRegistry()
	charge := service.MustOperation[int]("billing.charge")
	_ = service.Handle(services, charge, func(context.Context, int) error { return nil }, service.HandlerOptions{})

	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://app@db.example/app"}}
	rt, cleanup, err := everything.New(config.Default(), in, everything.Destinations{
		Kafka:    kafka.Config{Connection: kafka.Connection{Brokers: []string{"kafka-1.example:9092"}}},
		Services: services,
		Jobs:     delayedjob.Config{Client: client, Registry: jobs},
		Webhook:  webhook.Config{Source: &webhook.Registry{}}, // endpoints can be added while it runs
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cleanup()
	fmt.Println(rt.App != nil, rt.Publisher != nil, rt.Jobs != nil, rt.Migration != nil)
	// Output: true true true true
}
