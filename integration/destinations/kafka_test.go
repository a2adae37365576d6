package destinations

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// newTopic creates a topic with a fresh name, which is removed when the test ends.
func newTopic(t testing.TB, brokers []string, partitions int32) string {
	t.Helper()
	name := "satchel-it-" + strings.ToLower(rand.Text()[:12])
	admin, err := sarama.NewClusterAdmin(brokers, sarama.NewConfig())
	if err != nil {
		t.Fatalf("connect to Kafka: %v", err)
	}
	t.Cleanup(func() {
		_ = admin.DeleteTopic(name) // a broker of the test's own may be gone
		_ = admin.Close()
	})
	if err := admin.CreateTopic(name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false); err != nil {
		t.Fatalf("create a topic: %v", err)
	}
	return name
}

// kafkaHandler returns a handler with the settings that the adapter recommends, closed when the test ends.
func kafkaHandler(t testing.TB, brokers []string) *kafka.Handler {
	t.Helper()
	h, err := kafka.NewHandler(kafka.Config{Connection: kafka.Connection{Brokers: brokers}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = h.Close(ctx) // records without a result are what some tests are about
	})
	return h
}

// readTopic returns everything that is in a topic now: each partition in its order, partition after partition.
func readTopic(t testing.TB, brokers []string, topic string) []kafka.Message {
	t.Helper()
	client, err := sarama.NewClient(brokers, sarama.NewConfig())
	if err != nil {
		t.Fatalf("connect to Kafka: %v", err)
	}
	defer func() { _ = client.Close() }()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		t.Fatalf("consume: %v", err)
	}
	defer func() { _ = consumer.Close() }()
	partitions, err := client.Partitions(topic)
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	var all []kafka.Message
	for _, p := range partitions {
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		if err != nil {
			t.Fatalf("end of partition %d: %v", p, err)
		}
		if end > 0 {
			all = append(all, readPartition(t, consumer, topic, p, end)...)
		}
	}
	return all
}

func readPartition(t testing.TB, consumer sarama.Consumer, topic string, partition int32, end int64) (all []kafka.Message) {
	t.Helper()
	pc, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
	if err != nil {
		t.Fatalf("partition %d: %v", partition, err)
	}
	defer func() { _ = pc.Close() }()
	for {
		record := lab.Receive(t, "a record of the topic", pc.Messages())
		all = append(all, kafka.MessageOf(record))
		if record.Offset == end-1 { // no transactions and no compaction, so the last offset has a record
			return all
		}
	}
}

// caughtUp reports whether a consumer group has committed everything that is in a topic.
func caughtUp(t testing.TB, brokers []string, group, topic string) bool {
	t.Helper()
	client, err := sarama.NewClient(brokers, sarama.NewConfig())
	if err != nil {
		t.Fatalf("connect to Kafka: %v", err)
	}
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		t.Fatalf("connect to Kafka: %v", err)
	}
	defer func() { _ = admin.Close() }() // and the client
	partitions, err := client.Partitions(topic)
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	committed, err := admin.ListConsumerGroupOffsets(group, map[string][]int32{topic: partitions})
	if err != nil {
		t.Fatalf("offsets of the group: %v", err)
	}
	for _, p := range partitions {
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		if err != nil {
			t.Fatalf("end of partition %d: %v", p, err)
		}
		if block := committed.GetBlock(topic, p); end > 0 && (block == nil || block.Offset < end) {
			return false
		}
	}
	return true
}
