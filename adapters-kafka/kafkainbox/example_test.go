package kafkainbox_test

import (
	"context"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-kafka/kafkainbox"
	"github.com/satchel-go/satchel/core/memstore"
)

// A message that was sent twice is worked on once. The database and the cluster are
// inside the process.
func Example() {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(1, "orders"))
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	sendTwice(cluster.ListenAddrs(), "0190b3a0-7c4e-7d2a-8f00-0123456789ab", "order-42")
	sendTwice(cluster.ListenAddrs(), "0190b3a0-7c4e-7d2a-8f00-0123456789ac", "order-43")

	store := memstore.New(memstore.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	consumer, err := kafkainbox.New(kafkainbox.Config[*memstore.Tx]{
		Connection: kafka.Connection{Brokers: cluster.ListenAddrs()},
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
			fmt.Printf("bill %s\n", m.Key)
			if string(m.Key) == "order-43" {
				cancel() // the example has seen enough
			}
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(consumer.Run(ctx))
	// Output:
	// bill order-42
	// bill order-43
	// <nil>
}

func sendTwice(brokers []string, id, key string) {
	producer, err := sarama.NewSyncProducer(brokers, kafka.DefaultSaramaConfig())
	if err != nil {
		panic(err)
	}
	defer producer.Close()
	for range 2 {
		_, _, err := producer.SendMessage(&sarama.ProducerMessage{
			Topic: "orders", Key: sarama.StringEncoder(key), Value: sarama.StringEncoder("{}"),
			Headers: []sarama.RecordHeader{{Key: []byte("carrier_id"), Value: []byte(id)}},
		})
		if err != nil {
			panic(err)
		}
	}
}
