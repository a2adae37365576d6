package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// watermillPeer measures watermill-sql.
type watermillPeer struct {
	pool *pgxpool.Pool
	used int // topics so far: each measurement gets one, and with it tables, of its own
}

// adapters are one of the two pairs that watermill-sql brings for PostgreSQL.
type adapters struct {
	name        string
	subscribers int
	batch       int
	schema      sql.SchemaAdapter
	offsets     sql.OffsetsAdapter
}

// queue deletes what is acknowledged; subscribers wait for each other's batches.
func queue(batch int) adapters {
	return adapters{
		"queue", 1, batch,
		sql.PostgreSQLQueueSchema{SubscribeBatchSize: batch},
		sql.PostgreSQLQueueOffsetsAdapter{DeleteOnAck: true},
	}
}

// offsets keeps messages and stores how far a group of consumers has come.
func offsets(batch int) adapters {
	return adapters{
		"offsets", 1, batch,
		sql.DefaultPostgreSQLSchema{SubscribeBatchSize: batch},
		sql.DefaultPostgreSQLOffsetsAdapter{},
	}
}

// with returns the adapters for several subscribers of one topic.
func (a adapters) with(subscribers int) adapters {
	a.subscribers = subscribers
	return a
}

func (w *watermillPeer) topic() string {
	w.used++
	return "bench" + strconv.Itoa(w.used)
}

func (w *watermillPeer) publisher(db sql.ContextExecutor, a adapters, create bool) (*sql.Publisher, error) {
	return sql.NewPublisher(db, sql.PublisherConfig{SchemaAdapter: a.schema, AutoInitializeSchema: create}, watermill.NopLogger{})
}

// subscribe consumes a topic, acknowledging at once, until stop is called.
func (w *watermillPeer) subscribe(ctx context.Context, topic string, a adapters, poll time.Duration, arrive func(n int)) (stop func() error, err error) {
	var consuming sync.WaitGroup
	var open []*sql.Subscriber
	stop = func() error {
		var failures []error
		for _, s := range open {
			failures = append(failures, s.Close())
		}
		consuming.Wait()
		return errors.Join(failures...)
	}
	for range a.subscribers {
		s, err := sql.NewSubscriber(sql.BeginnerFromPgx(w.pool), sql.SubscriberConfig{
			SchemaAdapter: a.schema, OffsetsAdapter: a.offsets, PollInterval: poll,
		}, watermill.NopLogger{})
		if err != nil {
			return stop, err
		}
		open = append(open, s)
		messages, err := s.Subscribe(ctx, topic)
		if err != nil {
			return stop, err
		}
		consuming.Go(func() {
			for m := range messages {
				if n, err := strconv.Atoi(m.Metadata.Get("n")); err == nil {
					arrive(n)
				}
				m.Ack()
			}
		})
	}
	return stop, nil
}

func newMessage(n int) *message.Message {
	m := message.NewMessage(watermill.NewUUID(), message.Payload(business))
	m.Metadata.Set("n", strconv.Itoa(n))
	return m
}

func (w *watermillPeer) drain(ctx context.Context, p plan) error {
	for _, job := range p.drains() {
		for _, a := range []adapters{queue(1000), queue(1000).with(2), offsets(1000)} {
			var rates []float64
			for range p.rounds {
				rate, err := w.drainOnce(ctx, job, a)
				if err != nil {
					return fmt.Errorf("watermill-sql, %s: %w", a.name, err)
				}
				rates = append(rates, rate)
			}
			emit(measurement{Case: "drain", Series: "watermill", Params: map[string]string{
				"mode": a.name, "workers": strconv.Itoa(a.subscribers), "batch": strconv.Itoa(a.batch), "handler": job.takes.String(),
			}, Values: map[string]float64{"rate": median(rates)}})
		}
	}
	return nil
}

func (w *watermillPeer) drainOnce(ctx context.Context, job work, a adapters) (rate float64, err error) {
	topic, rows := w.topic(), job.rows
	if err := w.create(ctx, topic, a); err != nil {
		return 0, err
	}
	publisher, err := w.publisher(sql.BeginnerFromPgx(w.pool), a, false)
	if err != nil {
		return 0, err
	}
	const chunk = 1000
	for first := 0; first < rows; first += chunk {
		var messages []*message.Message
		for n := first; n < min(rows, first+chunk); n++ {
			messages = append(messages, newMessage(n))
		}
		if err := publisher.Publish(topic, messages...); err != nil {
			return 0, err
		}
	}
	if _, err := w.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return 0, err
	}
	c := newCountdown(rows)
	began := time.Now()
	stop, err := w.subscribe(ctx, topic, a, 10*time.Millisecond, job.handle(c))
	if err == nil {
		err = c.wait(ctx)
	}
	took := time.Since(began) // the last batch is still to be acknowledged; closing would cost more than that
	return float64(rows) / took.Seconds(), errors.Join(err, stop())
}

// create makes the tables of a topic.
func (w *watermillPeer) create(ctx context.Context, topic string, a adapters) error {
	s, err := sql.NewSubscriber(sql.BeginnerFromPgx(w.pool), sql.SubscriberConfig{SchemaAdapter: a.schema, OffsetsAdapter: a.offsets}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	return errors.Join(s.SubscribeInitialize(topic), s.Close(), ctx.Err())
}

func (w *watermillPeer) publish(ctx context.Context, p plan) error {
	for _, a := range []adapters{queue(100), offsets(100)} {
		topic := w.topic()
		if err := w.create(ctx, topic, a); err != nil {
			return err
		}
		rate, err := publishRate(ctx, w.pool, p.publish, w.publishIn(topic, a))
		if err != nil {
			return err
		}
		emit(measurement{Case: "publish", Series: "watermill " + a.name, Values: map[string]float64{"rate": rate}})
	}
	return nil
}

// publishIn returns what publishes one message in the caller's transaction.
func (w *watermillPeer) publishIn(topic string, a adapters) func(tx pgx.Tx, n int) error {
	return func(tx pgx.Tx, n int) error {
		publisher, err := w.publisher(sql.TxFromPgx(tx), a, false)
		if err != nil {
			return err
		}
		return publisher.Publish(topic, newMessage(n))
	}
}

// latency polls every 10 ms: watermill-sql has no notifications.
func (w *watermillPeer) latency(ctx context.Context, p plan) error {
	for _, rate := range []int{100, 1000} {
		a, topic := queue(100), w.topic()
		if err := w.create(ctx, topic, a); err != nil {
			return err
		}
		c := newCountdown(max(1, int(p.latency.Seconds()*float64(rate))))
		stop, err := w.subscribe(ctx, topic, a, 10*time.Millisecond, c.arrive)
		if err == nil {
			err = publishSteadily(ctx, w.pool, rate, c, w.publishIn(topic, a))
		}
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		emit(measurement{Case: "latency", Series: "watermill", Params: map[string]string{"rate": strconv.Itoa(rate), "tuning": "poll 10ms"}, Values: c.quantiles()})
	}
	return nil
}
