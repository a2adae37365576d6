// Package kafkapipeline takes a message from an outbox over Kafka to an inbox.
package kafkapipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/IBM/sarama"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

// Run publishes two payments of one order. A relay sends them to a topic, twice each, as it
// would after a crash between sending and recording; a consumer books each of them once.
func Run(ctx context.Context, url string, brokers []string, topic string, out io.Writer) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE TABLE bookings (nr bigserial, cents text NOT NULL)"); err != nil {
		return err
	}
	if err := createTopic(brokers, topic); err != nil {
		return err
	}
	connection := kafka.Connection{Brokers: brokers}
	if err := send(ctx, pool, connection, topic); err != nil {
		return err
	}

	// The consumer, which could be another service with another database.
	processor, err := pgxtx.NewProcessor(pgxtx.Config{})
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	records := 0
	consumer, err := kafkainbox.New(kafkainbox.Config[pgx.Tx]{
		Connection: connection, Group: topic + "-bookkeeping", Topics: []string{topic},
		Processor: processor,
		InTx: func(ctx context.Context, work func(context.Context, pgx.Tx) error) error {
			err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return work(ctx, tx) })
			if err == nil {
				if records++; records == 4 { // an example has to end; a service goes on
					done()
				}
			}
			return err
		},
		Work: func(ctx context.Context, tx pgx.Tx, m kafka.Message) error {
			_, err := tx.Exec(ctx, "INSERT INTO bookings (cents) VALUES ($1)", string(m.Value))
			return err
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := consumer.Run(ctx); err != nil {
		return err
	}

	var bookings string
	err = pool.QueryRow(context.WithoutCancel(ctx), "SELECT string_agg(cents, ', ' ORDER BY nr) FROM bookings").Scan(&bookings)
	fmt.Fprintf(out, "records: %d, bookings: %s\n", records, bookings)
	return err
}

// send publishes, and delivers everything twice.
func send(ctx context.Context, pool *pgxpool.Pool, connection kafka.Connection, topic string) (err error) {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, cents := range []int{1999, 500} {
			_, err := publisher.Publish(ctx, tx, outbox.Entry{
				DestinationType: destination.Kafka, Destination: topic,
				EventType: "order.paid", AggregateID: "order-42", Payload: cents,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	handler, err := kafka.NewHandler(kafka.Config{Connection: connection})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handler.Close(context.WithoutCancel(ctx))) }()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	node, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		return err
	}
	if _, err := node.Drain(ctx); err != nil {
		return err
	}
	// As if the outcome had been lost: the same entries, with the same message ids, again.
	const again = "UPDATE outbox SET state = 'PENDING', published_at = NULL"
	if _, err := pool.Exec(ctx, again); err != nil {
		return err
	}
	_, err = node.Drain(ctx)
	return err
}

func createTopic(brokers []string, topic string) (err error) {
	settings := sarama.NewConfig()
	settings.Net.DialTimeout = 5 * time.Second
	admin, err := sarama.NewClusterAdmin(brokers, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	return admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false)
}
