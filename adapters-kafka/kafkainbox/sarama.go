package kafkainbox

import (
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/fault"
)

// DefaultSaramaConfig returns a sarama configuration for a consumer group that misses
// nothing: it starts at the oldest record where the group has no offset yet, reads
// no records of aborted transactions, and commits offsets every second. A topic is
// not created by subscribing to it.
func DefaultSaramaConfig() *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = kafka.DefaultClientID
	c.Net.DialTimeout = 5 * time.Second
	c.Net.ReadTimeout = 15 * time.Second
	c.Net.WriteTimeout = 15 * time.Second
	c.Metadata.Full = false
	c.Metadata.AllowAutoTopicCreation = false
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	return c
}

// consumerProblems says what in c this package cannot work with.
func consumerProblems(c *sarama.Config) []error {
	if err := c.Validate(); err != nil {
		return []error{&fault.Invalid{Field: "sarama configuration", Reason: "was refused", Cause: err}}
	}
	var problems []error
	if !c.Consumer.Offsets.AutoCommit.Enable {
		problems = append(problems, fault.NewInvalid("sarama Consumer.Offsets.AutoCommit.Enable", "is false: the offsets of processed records would never be committed"))
	}
	// With a cooperative strategy a single partition is revoked by closing its channel,
	// behind records that are still in it, which a retry in place would not see.
	if strategies := c.Consumer.Group.Rebalance.GroupStrategies; len(strategies) == 0 || !slices.ContainsFunc(strategies, eager) {
		problems = append(problems, fault.NewInvalid("sarama Consumer.Group.Rebalance.GroupStrategies", "has only cooperative strategies, which are not supported"))
	}
	return problems
}

func eager(s sarama.BalanceStrategy) bool {
	declared, ok := s.(sarama.RebalanceProtocolBalanceStrategy)
	return !ok || !slices.Contains(declared.SupportedProtocols(), sarama.RebalanceProtocolCooperative)
}

// deadLetterConfig is the configuration of the producer of dead letters.
func deadLetterConfig(consumer *sarama.Config) *sarama.Config {
	c := kafka.DefaultSaramaConfig()
	c.Net = consumer.Net
	c.Net.MaxOpenRequests = 1
	c.ClientID, c.Version, c.MetricRegistry = consumer.ClientID, consumer.Version, consumer.MetricRegistry
	c.Metadata.Retry = consumer.Metadata.Retry
	c.Producer.MaxMessageBytes = int(sarama.MaxRequestSize) - 1 // the topic's own limit decides
	return c
}
