package destinations

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// elsewhere returns entries of a kind that has nothing to do with brokers, and a handler for it.
func elsewhere() (func(n int) outbox.Entry, delivery.Handler) {
	entry := func(n int) outbox.Entry {
		aggregate, number := turns(n)
		return lab.Entry("elsewhere-"+aggregate, number)
	}
	return entry, lab.Handle(func(context.Context, delivery.Envelope) error { return nil })
}

// The broker dies under load and is back some time later, as the same cluster.
func TestKafkaGoesDownAndComesBack(t *testing.T) {
	t.Parallel()
	broker := kafkas.private(t)
	topic := newTopic(t, broker.Brokers, 4)
	bystander, other := elsewhere()
	pool := lab.New(t).Pool(t)
	o := outage{
		pool: pool,
		victim: func(n int) outbox.Entry {
			aggregate, number := turns(n)
			return kafkaEntry(topic, aggregate, number)
		},
		bystander: bystander,
		handler:   kafkaHandler(t, broker.Brokers),
		others:    []delivery.Handler{other},
		down:      broker.Crash,
		up:        broker.Restart,
		length:    time.Duration(lab.Sized(10, 60)) * time.Second,
	}
	o.run(t)
	repeats := checkTopic(t, pool, topic, readTopic(t, broker.Brokers, topic))
	t.Logf("%d records repeated", repeats)
}
