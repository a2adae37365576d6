package kafka

import (
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/fault"
)

// DefaultSaramaConfig returns a sarama configuration that neither loses nor reorders
// records, to use as it is or to start from. It differs from sarama's own default in
// this: acks from all in-sync replicas, idempotent, one request in flight, results
// reported, five retries with a growing pause of 0.1 to 2 s, 5 s to connect and 15 s
// for an answer, metadata only for the topics in use, and no topic is created by
// asking for it, so that a misspelt one shows. The partitioner is sarama's default:
// see the package documentation before you share topics with Java producers.
func DefaultSaramaConfig() *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = DefaultClientID
	c.Net.MaxOpenRequests = 1
	c.Net.DialTimeout = 5 * time.Second
	c.Net.ReadTimeout = 15 * time.Second
	c.Net.WriteTimeout = 15 * time.Second
	c.Metadata.Full = false
	c.Metadata.AllowAutoTopicCreation = false
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Idempotent = true
	c.Producer.Return.Successes = true
	c.Producer.Return.Errors = true
	c.Producer.Retry.Max = 5
	c.Producer.Transaction.Retry.Max = 3 // also counts the tries to get a producer id
	c.Producer.Retry.BackoffFunc = sarama.NewExponentialBackoff(100*time.Millisecond, 2*time.Second)
	return c
}

// producerProblems says what in c could lose, reorder or hold back records.
func producerProblems(c *sarama.Config) []error {
	rules := []struct {
		bad           bool
		field, reason string
	}{
		{c.Producer.RequiredAcks != sarama.WaitForAll, "Producer.RequiredAcks", "is not WaitForAll: a record could be lost with one broker"},
		{!c.Producer.Idempotent, "Producer.Idempotent", "is false: a retry inside the client could store a record twice or out of order"},
		{c.Net.MaxOpenRequests > 1, "Net.MaxOpenRequests", "is larger than 1: a retried request could overtake another"},
		{!c.Producer.Return.Successes, "Producer.Return.Successes", "is false: the result of a record would never come"},
		{!c.Producer.Return.Errors, "Producer.Return.Errors", "is false: the failure of a record would never come"},
		{c.Producer.Transaction.ID != "", "Producer.Transaction.ID", "is set: a transactional producer takes records inside its transactions only"},
		{(c.Producer.Flush.Bytes > 0 || c.Producer.Flush.Messages > 0) && c.Producer.Flush.Frequency == 0, "Producer.Flush.Frequency", "is 0 although Flush.Bytes or Flush.Messages is set: the last records would never be sent"},
	}
	var problems []error
	for _, rule := range rules {
		if rule.bad {
			problems = append(problems, fault.NewInvalid("sarama "+rule.field, rule.reason))
		}
	}
	return problems
}

// bulkConfig is c for a producer that lets a request wait for company.
func bulkConfig(c *sarama.Config) *sarama.Config {
	bulk := *c
	bulk.Producer.Flush.Frequency = company
	return &bulk
}

// aloneConfig is c for a producer that puts one record into each request.
func aloneConfig(c *sarama.Config) *sarama.Config {
	alone := *c
	alone.Producer.Flush.Bytes = 0
	alone.Producer.Flush.Messages = 0
	alone.Producer.Flush.Frequency = 0
	alone.Producer.Flush.MaxMessages = 1
	return &alone
}
