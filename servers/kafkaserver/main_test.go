package kafkaserver

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a deadline for a broker on a busy machine, not an expectation.
const patience = 2 * time.Minute

// stopLater stops the server with the test.
func stopLater(t *testing.T, server *Server) *Server {
	t.Helper()
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	t.Logf("%v", server)
	return server
}

// own finds a server that the test may crash: a real one where there is one.
func own(t *testing.T) *Server {
	t.Helper()
	server, err := Find(t.Context(), Options{Private: true, Logf: t.Logf})
	if err != nil {
		t.Fatalf("no Kafka broker; run \"make test\", or scripts/kafka: %v", err)
	}
	return stopLater(t, server)
}

// standIn starts kfake, whatever else is there.
func standIn(t *testing.T) *Server {
	t.Helper()
	server, err := Options{}.standIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stopLater(t, server)
}

// produce writes one record to a topic, which need not exist.
func produce(t *testing.T, server *Server, topic, value string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(server.Brokers...), kgo.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	record := &kgo.Record{Topic: topic, Value: []byte(value)}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		t.Fatalf("produce: %v", err)
	}
}

// consume reads n values of a topic from its beginning.
func consume(t *testing.T, server *Server, topic string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(server.Brokers...),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var values []string
	for len(values) < n {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("consume: %d of %d records: %v", len(values), n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}
