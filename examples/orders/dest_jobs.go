package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/inbox"
)

// redisVariable names the Redis server: redis://HOST:PORT/DATABASE.
const redisVariable = "SATCHEL_REDIS_URL"

// viaJobs turns each event into a job, which a worker of the consumer runs.
type viaJobs struct {
	byStep
	queue     string
	jobs      map[string]delayedjob.Job[OrderEvent]
	publisher *delayedjob.Publisher[pgx.Tx]
	redis     redis.Options
}

func openJobs(run string) (transport, error) {
	options, err := redis.ParseURL(os.Getenv(redisVariable))
	if err != nil {
		return nil, errors.New(redisVariable + " cannot be read") // the cause would quote a password
	}
	publisher, err := newPublisher()
	if err != nil {
		return nil, err
	}
	v := &viaJobs{
		queue: strings.ReplaceAll(run, "_", "-"),
		jobs:  map[string]delayedjob.Job[OrderEvent]{},
		redis: delayedjob.FailFast(*options),
	}
	for _, name := range v.names() {
		if v.jobs[name], err = delayedjob.NewJob[OrderEvent](name, delayedjob.Defaults{Queue: v.queue}); err != nil {
			return nil, err
		}
	}
	v.publisher, err = delayedjob.NewPublisher(publisher, nil)
	return v, err
}

func (v *viaJobs) client() *redis.Client {
	options := v.redis // a client keeps the options it is given
	return redis.NewClient(&options)
}

func (v *viaJobs) publish(ctx context.Context, tx pgx.Tx, events ...OrderEvent) error {
	for _, e := range events {
		if _, err := delayedjob.Publish(ctx, v.publisher, tx, v.jobs[v.route(e)], e); err != nil {
			return err
		}
	}
	return nil
}

func (v *viaJobs) handler(n *node) (delivery.Handler, func(), error) {
	registry, err := delayedjob.NewRegistry(n.hosted...)
	if err != nil {
		return nil, nil, err
	}
	client := v.client()
	handler, err := delayedjob.NewHandler(delayedjob.Config{Client: client, Registry: registry})
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	noticing := &noticing{Handler: handler, inspector: asynq.NewInspectorFromRedisClient(client), queue: v.queue, note: n.dropped}
	return noticing, func() { _ = client.Close() }, nil
}

// consume is an asynq server. A job can run twice, so it runs inside the inbox.
func (v *viaJobs) consume(ctx context.Context, c *consumer, ready func(string)) error {
	mux, err := delayedjob.NewMux(delayedjob.MuxConfig{})
	if err != nil {
		return err
	}
	for name, job := range v.jobs {
		err := delayedjob.HandleFunc(mux, job, func(ctx context.Context, e OrderEvent) error {
			id, _ := delayedjob.MessageID(ctx) // a zero id would make one message of all
			return c.once(ctx, inbox.Message{ID: id.String(), Source: name}, name, e)
		})
		if err != nil {
			return err
		}
	}
	client := v.client()
	defer func() { _ = client.Close() }()
	worker := asynq.NewServerFromRedisClient(client, asynq.Config{
		Queues:            delayedjob.Queues(v.queue),
		Concurrency:       consumerConnections,
		TaskCheckInterval: 50 * time.Millisecond,
		LogLevel:          asynq.ErrorLevel,
	})
	if err := worker.Start(mux); err != nil {
		return err
	}
	defer worker.Shutdown()
	ready("queue " + v.queue)
	<-ctx.Done()
	return nil
}
