package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

const (
	// brokersVariable names the cluster: HOST:PORT, separated by commas.
	brokersVariable = "SATCHEL_KAFKA_BROKERS"
	// partitions of each topic.
	partitions = 4
)

// viaKafka sends the events of an order to the topic of its region. Kafka keeps order
// within a partition, so events that belong together need one topic as well as one key.
type viaKafka struct {
	run        string
	connection kafka.Connection
	publisher  *outbox.Publisher[pgx.Tx]
}

func openKafka(run string) (transport, error) {
	publisher, err := newPublisher()
	return &viaKafka{
		run:        strings.ReplaceAll(run, "_", "-"),
		connection: kafka.Connection{Brokers: strings.Split(os.Getenv(brokersVariable), ",")},
		publisher:  publisher,
	}, err
}

func (v *viaKafka) names() []string {
	return []string{v.run + "-north", v.run + "-south", v.run + "-west"}
}

// route spreads the orders over the regions by the last digit of their number.
func (v *viaKafka) route(e OrderEvent) string {
	last := e.OrderID[len(e.OrderID)-1] - '0'
	return v.names()[int(last)%3]
}

func (v *viaKafka) publish(ctx context.Context, tx pgx.Tx, events ...OrderEvent) error {
	entries := make([]outbox.Entry, len(events))
	for i, e := range events {
		entries[i] = e.entry(destination.Kafka, v.route(e)) // the aggregate id becomes the key
	}
	_, err := v.publisher.PublishAll(ctx, tx, entries...)
	return err
}

func (v *viaKafka) handler(n *node) (delivery.Handler, func(), error) {
	handler, err := kafka.NewHandler(kafka.Config{
		Connection: v.connection,
		Topics:     func() []string { return n.hosted },
	})
	if err != nil {
		return nil, nil, err
	}
	return handler, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := handler.Close(ctx); err != nil {
			n.logger.Warn("closing the producer", "error", err)
		}
	}, nil
}

// consume is one member of the run's consumer group.
func (v *viaKafka) consume(ctx context.Context, c *consumer, ready func(string)) error {
	member, err := kafkainbox.New(kafkainbox.Config[pgx.Tx]{
		Connection: v.connection,
		Group:      v.run,
		Topics:     v.names(),
		Processor:  c.processor,
		InTx:       c.inTx,
		Work: func(ctx context.Context, tx pgx.Tx, m kafka.Message) error {
			var e OrderEvent
			if err := json.Unmarshal(m.Value, &e); err != nil {
				return delivery.Permanent(err)
			}
			return c.apply(ctx, tx, m.Topic, e)
		},
		Logger: c.logger,
	})
	if err != nil {
		return err
	}
	ready("group " + v.run) // which starts at the oldest record
	return member.Run(ctx)
}

// prepare creates the topics.
func (v *viaKafka) prepare(context.Context) (stage, error) {
	settings := v.connection.Apply(kafka.DefaultSaramaConfig())
	settings.Metadata.Full = true // before there is a topic, nothing else tells which broker is the controller
	client, err := sarama.NewClient(v.connection.Brokers, settings)
	if err != nil {
		return nil, fmt.Errorf("connecting to Kafka: %w", err)
	}
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	t := &topics{viaKafka: v, client: client, admin: admin}
	for _, topic := range v.names() {
		if err := admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false); err != nil {
			_ = admin.Close()
			return nil, fmt.Errorf("creating a topic: %w", err)
		}
	}
	return t, nil
}
