package kafka_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// An entry goes from a transaction through the relay to a topic. The store of this example is
// in memory; with PostgreSQL the rest stays as it is.
func ExampleNewHandler() {
	brokers, done := cluster()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	must(memstore.NewPublisher(store, outbox.Config{}).Publish(ctx, tx, outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders",
		EventType: "order.confirmed", AggregateID: "order-42",
		Payload: map[string]string{"total": "9.90"}, Headers: map[string]string{"tenant": "acme"},
	}))
	check(tx.Commit())

	handler := must(kafka.NewHandler(kafka.Config{Connection: kafka.Connection{Brokers: brokers}}))
	defer handler.Close(ctx)
	node := must(relay.New(store, []delivery.Handler{handler}, relay.Config{}))
	must(node.Drain(ctx))

	m := kafka.MessageOf(consume(brokers, 1)[0])
	fmt.Printf("%s %s %s %s\n", m.EventType, m.Key, m.Value, m.Headers)
	fmt.Println(m.ID == store.Rows()[0].MessageID.String())
	// Output:
	// order.confirmed order-42 {"total":"9.90"} map[tenant:acme]
	// true
}

// Credentials do not show when a configuration is printed.
func ExampleConnection() {
	c := kafka.Connection{
		Brokers: []string{"kafka-1.example:9093", "kafka-2.example:9093"},
		TLS:     &tls.Config{MinVersion: tls.VersionTLS12},
		SASL:    kafka.SASL{Mechanism: kafka.ScramSHA512, User: "relay", Password: "hunter2"},
	}
	fmt.Println(c.Validate())
	fmt.Printf("%+v\n", c.SASL)
	// Output:
	// <nil>
	// {Mechanism:SCRAM-SHA-512 User:relay Password:[redacted]}
}

// A configuration of one's own starts from the default, which neither loses nor reorders
// records. Java producers that write the same topic need the same partitioner.
func ExampleDefaultSaramaConfig() {
	cfg := kafka.DefaultSaramaConfig()
	cfg.Producer.Partitioner = sarama.NewMurmur2Partitioner
	cfg.Producer.Compression = sarama.CompressionLZ4
	handler, err := kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: []string{"kafka-1.example:9092"}},
		Sarama:     cfg,
	})
	fmt.Println(handler.Type(), err)
	// Output: KAFKA <nil>
}

// For a compacted topic a payload of JSON null becomes a record without a value, which deletes
// the key.
func ExampleConfig_tombstone() {
	brokers, done := cluster()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	handler := must(kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: brokers},
		Tombstone:  func(topic string) bool { return topic == "orders" },
	}))
	defer handler.Close(ctx)

	check(handler.Deliver(ctx, delivery.Envelope{
		MessageID: outbox.NewMessageID(), DestinationType: destination.Kafka, Destination: "orders",
		EventType: "order.forgotten", AggregateID: "order-42",
		Payload: []byte("null"), ContentType: outbox.JSONContentType,
	}))
	m := kafka.MessageOf(consume(brokers, 1)[0])
	fmt.Printf("%s deleted: %t\n", m.Key, m.Value == nil)
	// Output: order-42 deleted: true
}

// Nothing needs a connection before the first delivery. A service that wants to say at its
// start that the cluster is down asks for one.
func ExampleHandler_Connect() {
	handler := must(kafka.NewHandler(kafka.Config{
		Connection: kafka.Connection{Brokers: []string{"127.0.0.1:1"}}, // nobody listens there
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := handler.Connect(ctx)
	fmt.Println("reached:", err == nil)

	check(handler.Close(context.Background()))
	err = handler.Deliver(context.Background(), delivery.Envelope{Destination: "orders"})
	fmt.Println(errors.Is(err, kafka.ErrClosed), delivery.VerdictOf(err))
	// Output:
	// reached: false
	// true unavailable
}

// The cluster's id ties entries to it: a relay that is connected to another cluster, such as
// a copy of the database beside a test cluster, leaves them alone.
func ExampleHandler_Fingerprint() {
	brokers, done := cluster()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	handler := must(kafka.NewHandler(kafka.Config{Connection: kafka.Connection{Brokers: brokers}}))
	defer handler.Close(ctx)
	check(handler.Connect(ctx))

	config := outbox.Config{Fingerprint: func(t destination.Type, name string) string {
		if t == destination.Kafka {
			return handler.Fingerprint(ctx, name)
		}
		return ""
	}}
	fmt.Println(config.Fingerprint(destination.Kafka, "orders") != "")
	// Output: true
}

// Sender and receiver use the same names, here those of another framework.
func ExampleHeaderNames() {
	names := kafka.HeaderNames{MessageID: "id", EventType: "eventType", ContentType: "contentType", ReservedPrefix: "x-ctx-"}
	m := names.MessageOf(&sarama.ConsumerMessage{Headers: []*sarama.RecordHeader{
		{Key: []byte("id"), Value: []byte("0190b3a0-7c4e-7d2a-8f00-0123456789ab")},
		{Key: []byte("eventType"), Value: []byte("order.confirmed")},
	}})
	fmt.Println(m.ID, m.EventType)
	fmt.Println(kafka.HeaderNames{MessageID: "event_type"}.Validate())
	// Output:
	// 0190b3a0-7c4e-7d2a-8f00-0123456789ab order.confirmed
	// satchel: kafka header names are not distinct
}
