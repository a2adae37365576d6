package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
)

// lanes are the producers of a handler. Each connects when it is first needed.
//
// The client sends a record as soon as the connection is free, so that of many which
// arrive together the first few leave in requests of their own; and what it offers
// against that delays a record that comes alone. Hence a producer for either.
type lanes struct {
	main  *producer.Producer // sends as the configuration says: at once
	bulk  *producer.Producer // lets a request wait for company
	alone *producer.Producer // puts one record into each request
}

const (
	// bulkSize is the number of records from which on the wait for company is shorter
	// than the requests that it saves.
	bulkSize = 64
	company  = time.Millisecond
)

func newLanes(brokers []string, cfg *sarama.Config) lanes {
	l := lanes{main: producer.New(brokers, cfg), alone: producer.New(brokers, aloneConfig(cfg))}
	if l.bulk = l.main; cfg.Producer.Flush.Frequency == 0 {
		l.bulk = producer.New(brokers, bulkConfig(cfg))
	}
	return l
}

func (l lanes) all() []*producer.Producer {
	if l.bulk == l.main {
		return []*producer.Producer{l.main, l.alone}
	}
	return []*producer.Producer{l.main, l.bulk, l.alone}
}

// take returns the producer for n records. Records of one aggregate keep their order
// within a producer only: while one has records of attempts that ended without an
// answer, all others must queue behind them; while several have, nothing can be sent.
func (l lanes) take(ctx context.Context, n int) (*producer.Producer, error) {
	const again = 10 * time.Millisecond
	for {
		lane, held := l.main, 0
		if n >= bulkSize {
			lane = l.bulk
		}
		for _, p := range l.all() {
			if p.Left() {
				lane, held = p, held+1
			}
		}
		if held <= 1 {
			return lane, nil
		}
		select {
		case <-ctx.Done():
			return nil, producer.NotSentIn(ctx)
		case <-time.After(again):
		}
	}
}

// close closes all at once.
func (l lanes) close(ctx context.Context) error {
	all := l.all()
	failures := make(chan error, len(all))
	for _, p := range all {
		go func() { failures <- p.Close(ctx) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-failures)
	}
	return err
}
