package kafkatest

import (
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// Records returns everything that is in a topic now: the records of each partition
// in their order, partition after partition.
func Records(t testing.TB, brokers []string, topic string) []*sarama.ConsumerMessage {
	t.Helper()
	client, err := sarama.NewClient(brokers, Quick(sarama.NewConfig()))
	if err != nil {
		t.Fatalf("connect to Kafka to read a topic: %v", err)
	}
	defer client.Close()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		t.Fatalf("consume from Kafka: %v", err)
	}
	defer consumer.Close()
	partitions, err := client.Partitions(topic)
	if err != nil {
		t.Fatalf("list the partitions of a topic: %v", err)
	}
	var all []*sarama.ConsumerMessage
	for _, partition := range partitions {
		end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
		if err != nil {
			t.Fatalf("find the end of partition %d: %v", partition, err)
		}
		all = append(all, read(t, consumer, topic, partition, int(end))...)
	}
	return all
}

func read(t testing.TB, consumer sarama.Consumer, topic string, partition int32, n int) []*sarama.ConsumerMessage {
	t.Helper()
	if n == 0 {
		return nil
	}
	pc, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
	if err != nil {
		t.Fatalf("read partition %d: %v", partition, err)
	}
	defer pc.Close()
	records := make([]*sarama.ConsumerMessage, 0, n)
	deadline := time.After(30 * time.Second)
	for len(records) < n {
		select {
		case record := <-pc.Messages():
			records = append(records, record)
		case <-deadline:
			t.Fatalf("partition %d: %d of %d records after 30 s", partition, len(records), n)
		}
	}
	return records
}
