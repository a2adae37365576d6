// A service with every destination, put together by module wiring, that makes its own tables.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/everything"
	"github.com/satchel-go/satchel/wiring/settings"
)

var greet = service.MustOperation[string]("greeting.greet")

func main() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	tree, err := settings.Load(settings.Sources{Environ: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	services := service.NewRegistry()
	err = service.Handle(services, greet, func(_ context.Context, name string) error {
		fmt.Println("hello", name)
		stop() // one greeting is enough
		return nil
	}, service.HandlerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // no job is published
	defer client.Close()
	rt, cleanup, err := everything.New(tree, wiring.Inputs{Database: wiring.Database{URL: wiring.Secret(os.Getenv("DATABASE_URL"))}}, everything.Destinations{
		Kafka:    kafka.Config{Connection: kafka.Connection{Brokers: []string{"127.0.0.1:1"}}}, // no record is published
		Services: services,
		Jobs:     delayedjob.Config{Client: client, Registry: &delayedjob.Registry{}},
		Webhook:  webhook.Config{Source: &webhook.Registry{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer cleanup()
	if err := rt.Migration.Apply(ctx); err != nil {
		log.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, rt.Pool, func(tx pgx.Tx) error {
		_, err := service.Send(ctx, rt.Publisher, tx, greet, "Ada")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := rt.App.Run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended")
}
