package producer

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"
)

// link is one live connection to the cluster: client, producer and their readers.
type link struct {
	client    sarama.Client
	async     sarama.AsyncProducer
	clusterID string
	readers   sync.WaitGroup
	ended     chan struct{} // closed when no result can come any more
	inFlight  *atomic.Int64 // the producer's
	left      atomic.Int64  // records without a result whose callers left

	senders sync.WaitGroup // callers that may write to the client's input
	retired bool           // takes no further records; guarded by the producer's mu
}

// dial connects. It blocks for as long as the client's own timeouts allow.
func dial(brokers []string, cfg *sarama.Config, inFlight *atomic.Int64) (*link, error) {
	client, err := sarama.NewClient(brokers, cfg)
	if err != nil {
		return nil, err
	}
	// The producer asks only one of the given brokers for its id. This tries them all
	// and leaves the client with one that answers.
	if err := client.RefreshMetadata(someTopic); err != nil && !aboutTopic(err) {
		return nil, errors.Join(err, client.Close())
	}
	id, err := clusterID(client)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	async, err := sarama.NewAsyncProducerFromClient(client)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	l := &link{client: client, async: async, clusterID: id, ended: make(chan struct{}), inFlight: inFlight}
	l.readers.Go(func() {
		for m := range async.Successes() {
			l.settle(m, nil)
		}
	})
	l.readers.Go(func() {
		for e := range async.Errors() {
			l.settle(e.Msg, e.Err)
		}
	})
	return l, nil
}

func (l *link) settle(m *sarama.ProducerMessage, err error) {
	l.inFlight.Add(-1)
	if it, ok := m.Metadata.(*item); ok {
		it.settle(err)
	}
}

// close waits for senders, flushes what the client holds and releases everything.
func (l *link) close() {
	l.senders.Wait()
	l.async.AsyncClose()
	l.readers.Wait()
	close(l.ended)
	_ = l.client.Close()
}

// someTopic is the topic that questions about the cluster are asked with: without one
// the answer would list them all. It needs not exist.
const someTopic = "__consumer_offsets"

// aboutTopic reports whether err is the answer of a cluster that was reached.
func aboutTopic(err error) bool {
	return errors.Is(err, sarama.ErrUnknownTopicOrPartition) || errors.Is(err, sarama.ErrLeaderNotAvailable) ||
		errors.Is(err, sarama.ErrTopicAuthorizationFailed)
}

// clusterID asks which cluster this is; "" when it does not say. Not to know it for
// another reason is an error: entries meant for another cluster would pass.
func clusterID(client sarama.Client) (string, error) {
	broker := client.LeastLoadedBroker()
	if broker == nil {
		return "", sarama.ErrOutOfBrokers
	}
	req := sarama.NewMetadataRequest(client.Config().Version, []string{someTopic})
	req.AllowAutoTopicCreation = false
	resp, err := broker.GetMetadata(req)
	if err != nil || resp.ClusterID == nil {
		return "", err
	}
	return *resp.ClusterID, nil
}
