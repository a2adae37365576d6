package kafka_test

import (
	"context"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// The relay calls the handler; here it is called by hand, with a cluster inside the
// process.
func Example() {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(1, "orders"))
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	handler, err := kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: cluster.ListenAddrs()},
	})
	if err != nil {
		panic(err)
	}
	defer handler.Close(ctx)

	entry := delivery.Envelope{
		MessageID: outbox.NewMessageID(), DestinationType: destination.Kafka,
		EventType: "order.confirmed", AggregateID: "order-42",
		Payload: []byte(`{"total":"9.90"}`), ContentType: outbox.JSONContentType,
	}
	for _, topic := range []string{"orders", "odrers"} {
		entry.Destination = topic
		fmt.Println(topic, delivery.VerdictOf(handler.Deliver(ctx, entry)))
	}
	// Output:
	// orders delivered
	// odrers unresolvable
}

func ExampleNewHandler_refused() {
	_, err := kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: []string{"kafka-1"}},
		Sarama:     sarama.NewConfig(), // sarama's own default, made for throughput
	})
	fmt.Println(err)
	// Output:
	// satchel: kafka broker 0 is not of the form host:port
	// satchel: sarama Producer.RequiredAcks is not WaitForAll: a record could be lost with one broker
	// satchel: sarama Producer.Idempotent is false: a retry inside the client could store a record twice or out of order
	// satchel: sarama Net.MaxOpenRequests is larger than 1: a retried request could overtake another
	// satchel: sarama Producer.Return.Successes is false: the result of a record would never come
}

func ExampleMessageOf() {
	m := kafka.MessageOf(&sarama.ConsumerMessage{
		Topic: "orders", Key: []byte("order-42"), Value: []byte(`{"total":"9.90"}`),
		Headers: []*sarama.RecordHeader{
			{Key: []byte("tenant"), Value: []byte("acme")},
			{Key: []byte("carrier_id"), Value: []byte("0190b3a0-7c4e-7d2a-8f00-0123456789ab")},
			{Key: []byte("event_type"), Value: []byte("order.confirmed")},
			{Key: []byte("satchel-correlation"), Value: []byte("c-1")},
		},
	})
	fmt.Println(m.ID, m.EventType)
	fmt.Printf("%s %s\n", m.Key, m.Value)
	fmt.Println(m.Headers)
	fmt.Printf("%s\n", m.Context["correlation"])
	// Output:
	// 0190b3a0-7c4e-7d2a-8f00-0123456789ab order.confirmed
	// order-42 {"total":"9.90"}
	// map[tenant:acme]
	// "c-1"
}
