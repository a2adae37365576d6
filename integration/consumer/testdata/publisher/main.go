// A program that publishes, with core and postgres and nothing else.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(ctx)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		log.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := publisher.Publish(ctx, tx, outbox.Entry{
			DestinationType: destination.Kafka, Destination: "orders",
			EventType: "order.confirmed", AggregateID: "order-42", Payload: map[string]int{"total": 4200},
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("published")
}
