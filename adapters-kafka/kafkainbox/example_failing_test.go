package kafkainbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
)

// All problems of a configuration are reported at once.
func ExampleNew() {
	_, err := kafkainbox.New(kafkainbox.Config[*memstore.Tx]{
		Connection: kafka.Connection{Brokers: []string{"kafka-1.example:9092"}},
		Group:      "billing",
	})
	fmt.Println(err)
	// Output:
	// satchel: kafka topics are empty
	// satchel: inbox processor is nil
	// satchel: InTx is nil
	// satchel: Work is nil
}

// billing consumes the topic "orders" and refuses every record. A service writes InTx once, for
// its database.
func billing(brokers []string) kafkainbox.Config[*memstore.Tx] {
	store := memstore.New(memstore.Config{})
	return kafkainbox.Config[*memstore.Tx]{
		Connection: kafka.Connection{Brokers: brokers},
		Group:      "billing",
		Topics:     []string{"orders"},
		Processor:  memstore.NewProcessor(store),
		InTx: func(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error {
			tx := store.Begin()
			defer tx.Rollback()
			if err := fn(ctx, tx); err != nil {
				return err
			}
			return tx.Commit()
		},
		Work: func(_ context.Context, _ *memstore.Tx, m kafka.Message) error {
			return delivery.Permanent(errors.New("no such customer"))
		},
	}
}

// A record that cannot be processed ends the consumer, unless there is a topic for such
// records: nothing is skipped in silence.
func ExampleRecordError() {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(1, "orders"))
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	sendTwice(cluster.ListenAddrs(), "0190b3a0-7c4e-7d2a-8f00-0123456789ab", "order-42")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	consumer, err := kafkainbox.New(billing(cluster.ListenAddrs()))
	if err != nil {
		panic(err)
	}
	var failed *kafkainbox.RecordError
	if errors.As(consumer.Run(ctx), &failed) {
		fmt.Println(failed.Topic, failed.Partition, failed.Offset, failed.Reason, failed.Attempts)
	}
	// Output: orders 0 0 refused 1
}

// With a topic for failed records processing goes on. They are stored as they came, with
// headers that say why.
func ExampleConfig_deadLetterTopic() {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(1, "orders", "orders.failed"))
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	sendTwice(cluster.ListenAddrs(), "0190b3a0-7c4e-7d2a-8f00-0123456789ab", "order-42")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	cfg := billing(cluster.ListenAddrs())
	cfg.DeadLetterTopic = func(topic string) string { return topic + ".failed" }
	consumer, err := kafkainbox.New(cfg)
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- consumer.Run(ctx) }()

	record := first(cluster.ListenAddrs(), "orders.failed")
	fmt.Printf("%s\n", record.Key)
	for _, h := range record.Headers {
		if name := string(h.Key); name == "satchel-dead-letter-reason" || name == "satchel-dead-letter-error" {
			fmt.Printf("%s: %s\n", name, h.Value)
		}
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// order-42
	// satchel-dead-letter-reason: refused
	// satchel-dead-letter-error: no such customer
	// <nil>
}

// first returns the first record of a topic, once there is one.
func first(brokers []string, topic string) *sarama.ConsumerMessage {
	consumer, err := sarama.NewConsumer(brokers, sarama.NewConfig())
	if err != nil {
		panic(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		panic(err)
	}
	defer partition.Close()
	return <-partition.Messages()
}
