// Package kafkatest gives tests a Kafka cluster: the one that SATCHEL_KAFKA_BROKERS
// names, a comma-separated list of addresses, or one inside the test process.
package kafkatest

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
)

// Brokers returns the addresses of a cluster and logs which it is.
func Brokers(t testing.TB) []string {
	t.Helper()
	if list := os.Getenv("SATCHEL_KAFKA_BROKERS"); list != "" {
		t.Log("using the Kafka cluster of SATCHEL_KAFKA_BROKERS")
		return strings.Split(list, ",")
	}
	t.Log("using an in-process Kafka cluster: SATCHEL_KAFKA_BROKERS is not set")
	return Fake(t).ListenAddrs()
}

// Fake starts a cluster of three brokers inside the process, for tests that inject
// faults, and stops it when the test ends.
func Fake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3)}, options...)...)
	if err != nil {
		t.Fatalf("start an in-process Kafka cluster: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// Quick shortens the pauses and time-outs of cfg so that tests of failures are short.
func Quick(cfg *sarama.Config) *sarama.Config {
	cfg.Producer.Retry.BackoffFunc = nil
	cfg.Producer.Retry.Backoff = 10 * time.Millisecond
	cfg.Producer.Transaction.Retry.Backoff = 10 * time.Millisecond
	cfg.Metadata.Retry.Max = 1
	cfg.Metadata.Retry.Backoff = 10 * time.Millisecond
	cfg.Net.DialTimeout = 2 * time.Second
	cfg.Net.ReadTimeout = 5 * time.Second
	return cfg
}

// Topic creates a topic with a fresh name and returns the name. It is removed when
// the test ends.
func Topic(t testing.TB, brokers []string, partitions int32) string {
	t.Helper()
	name := "satchel-test-" + strings.ToLower(rand.Text()[:12])
	admin, err := sarama.NewClusterAdmin(brokers, Quick(sarama.NewConfig()))
	if err != nil {
		t.Fatalf("connect to Kafka to create a topic: %v", err)
	}
	t.Cleanup(func() {
		_ = admin.DeleteTopic(name) // the cluster may be gone by intention
		_ = admin.Close()
	})
	if err := admin.CreateTopic(name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false); err != nil {
		t.Fatalf("create a topic: %v", err)
	}
	return name
}
