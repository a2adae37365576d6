package producer

import (
	"context"
	"errors"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"
)

// errRenewed is the reason of records that came too late for a link that was replaced.
var errRenewed = errors.New("kafka: the connection is being renewed")

// refusals are the indexes of the records that a client refused because of its past.
//
// It has a circuit breaker for each topic and one for each partition. One that opened
// stays open for ten seconds, during which the broker may have come back long ago; and
// since they open one by one, some partitions of a topic work while others do not.
func refusals(results []error) (refused []int) {
	for i, err := range results {
		if errors.Is(err, breaker.ErrBreakerOpen) || errors.Is(err, errRenewed) {
			refused = append(refused, i)
		}
	}
	return refused
}

// renew replaces a link whose client refuses records for topics that the cluster
// serves, and reports whether the link is not the current one any more. While the
// cluster does not serve them the client's breakers are right, and stay.
func (p *Producer) renew(ctx context.Context, l *link, records []*sarama.ProducerMessage, refused []int) bool {
	topics := map[string]bool{}
	for _, i := range refused {
		topics[records[i].Topic] = true
	}
	p.mu.Lock()
	if p.closed || l.retired {
		defer p.mu.Unlock()
		return !p.closed
	}
	served := make(chan bool, 1)
	p.users.Go(func() {
		for topic := range topics {
			if l.serves(topic) {
				served <- true
				return
			}
		}
		served <- false
	})
	p.mu.Unlock()
	select {
	case yes := <-served:
		return yes && p.retire(l)
	case <-ctx.Done():
		return false
	}
}

// serves asks the cluster whether every partition of a topic has a leader.
func (l *link) serves(topic string) bool {
	if l.client.RefreshMetadata(topic) != nil {
		return false
	}
	all, err := l.client.Partitions(topic)
	writable, errWritable := l.client.WritablePartitions(topic)
	return err == nil && errWritable == nil && len(all) > 0 && len(all) == len(writable)
}

// retire lets the next caller connect anew. What the old client holds is still sent.
func (p *Producer) retire(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if !l.retired {
		l.retired, p.link = true, nil
		p.users.Go(l.close)
	}
	return true
}
