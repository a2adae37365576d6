package kafka_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, scoped := range map[string]bool{"all topics": false, "some topics": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			brokers := kafkatest.Brokers(t)
			topic := kafkatest.Topic(t, brokers, 3)
			deliverytest.Run(t, deliverytest.Harness{
				Known: topic,
				New: func(t *testing.T) delivery.Handler {
					return open(t, brokers, func(c *kafka.Config) {
						if scoped {
							c.Topics = func() []string { return []string{topic} }
						}
					})
				},
				Failing: func(t *testing.T, _ error) delivery.Handler {
					// An answer that the table does not know stands for the unknown error.
					c := kafkatest.Fake(t)
					if err := c.CreateTopic(topic, 1, nil); err != nil {
						t.Fatal(err)
					}
					c.Fault(produceFault(topic, kerr.UnknownServerError, -1))
					return open(t, c.ListenAddrs(), nil)
				},
			})
		})
	}
}
