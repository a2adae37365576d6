package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
)

// noticing notes the deliveries that Redis drops because it has the task already, in
// whatever state. The handler itself reports them as delivered, which is all that a relay
// needs to know; the demonstration wants to count them.
type noticing struct {
	*delayedjob.Handler
	inspector *asynq.Inspector
	queue     string
	note      func(ctx context.Context, messageID, by string) error
}

// Deliver implements delivery.Handler.
func (n *noticing) Deliver(ctx context.Context, e delivery.Envelope) error {
	// Only one node at a time holds the entry, so nobody adds its task in between. An
	// error is either "not found", or Deliver will meet it too.
	_, absent := n.inspector.GetTaskInfo(n.queue, n.TaskID(e.MessageID))
	if err := n.Handler.Deliver(ctx, e); err != nil || absent != nil {
		return err
	}
	return n.note(ctx, e.MessageID.String(), byRedis)
}

// prepare only connects: a queue exists from its first task on.
func (v *viaJobs) prepare(ctx context.Context) (stage, error) {
	client := v.client()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to Redis: %w", err), client.Close())
	}
	return &jobQueue{name: v.queue, client: client, inspector: asynq.NewInspectorFromRedisClient(client)}, nil
}

// jobQueue is the stage of viaJobs.
type jobQueue struct {
	name      string
	client    *redis.Client
	inspector *asynq.Inspector
}

func (q *jobQueue) environment() []string { return nil }

// inTransit counts the tasks that may still run. An archived one will not: it shows
// as an event that was never applied.
func (q *jobQueue) inTransit(context.Context) (int64, error) {
	info, err := q.inspector.GetQueueInfo(q.name)
	switch {
	case errors.Is(err, asynq.ErrQueueNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return int64(info.Pending + info.Active + info.Scheduled + info.Retry), nil
}

// remove deletes the queue, its tasks, and what asynq keeps of a queue that is deleted:
// completed tasks and counters.
func (q *jobQueue) remove(ctx context.Context) error {
	err := q.inspector.DeleteQueue(q.name, true)
	if errors.Is(err, asynq.ErrQueueNotFound) {
		err = nil
	}
	left := q.client.Scan(ctx, 0, "asynq:{"+q.name+"}:*", 1000).Iterator()
	var keys []string
	for left.Next(ctx) {
		keys = append(keys, left.Val())
	}
	err = errors.Join(err, left.Err())
	for some := range slices.Chunk(keys, 1000) {
		err = errors.Join(err, q.client.Unlink(ctx, some...).Err())
	}
	return errors.Join(err, q.client.Close())
}
