package kafka_test

import (
	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
)

// cluster is a Kafka inside the process, with a topic "orders" of one partition.
func cluster() (brokers []string, done func()) {
	c := must(kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders")))
	return c.ListenAddrs(), c.Close
}

// consume returns the first n records of the topic.
func consume(brokers []string, n int) (records []*sarama.ConsumerMessage) {
	consumer := must(sarama.NewConsumer(brokers, sarama.NewConfig()))
	partition := must(consumer.ConsumePartition("orders", 0, sarama.OffsetOldest))
	for range n {
		records = append(records, <-partition.Messages())
	}
	check(partition.Close())
	check(consumer.Close())
	return records
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
