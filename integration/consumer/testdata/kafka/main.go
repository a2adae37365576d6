// A program that relays to Kafka what is in the outbox, and to nothing else.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	settings := kafka.DefaultSaramaConfig()
	settings.Metadata.AllowAutoTopicCreation = true
	handler, err := kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: strings.Split(os.Getenv("BROKERS"), ",")}, Sarama: settings,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer handler.Close(ctx)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		log.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: os.Getenv("TOPIC"),
			EventType: "order.confirmed", AggregateID: "order-42", Payload: map[string]int{"total": 4200},
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		log.Fatal(err)
	}
	observer := relay.ObserverFunc(func(_ context.Context, a relay.Attempt) { fmt.Println(a.Verdict, a.Recorded, a.Err) })
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{Observers: []relay.Observer{observer}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := node.Drain(ctx); err != nil {
		log.Fatal(err)
	}
}
