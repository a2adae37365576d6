package delayedjob_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// invoiceEntry is what a relay makes of the entry of a job.
func invoiceEntry() delivery.Envelope {
	return delivery.Envelope{
		MessageID: outbox.NewMessageID(), DestinationType: destination.DelayedJob, Destination: "invoice.send",
		Payload: []byte(`{"order":7}`), ContentType: outbox.JSONContentType,
		Metadata: outbox.Metadata{Delivery: map[string]json.RawMessage{
			delayedjob.DeliveryKey: json.RawMessage(`{"queue":"mail","priority":0,"maxAttempts":5}`),
		}},
	}
}

// All problems of a configuration are reported at once.
func ExampleNewHandler() {
	_, err := delayedjob.NewHandler(delayedjob.Config{Timeout: -1})
	fmt.Println(err)
	// Output:
	// satchel: redis client is nil
	// satchel: job registry is nil
	// satchel: timeout is negative or longer than 366 days
}

// The task id is the message id, so the second delivery of an entry finds the task of the
// first and adds nothing.
func ExampleHandler_Deliver() {
	ctx := context.Background()
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	options := delayedjob.FailFast(redis.Options{Addr: server.Addr()})
	client := redis.NewClient(&options)
	defer client.Close()
	registry, _ := delayedjob.NewRegistry(sendInvoice.ID())
	handler, err := delayedjob.NewHandler(delayedjob.Config{Client: client, Registry: registry})
	if err != nil {
		fmt.Println(err)
		return
	}

	entry := invoiceEntry()
	for range 2 {
		fmt.Println(delivery.VerdictOf(handler.Deliver(ctx, entry)))
	}
	inspector := asynq.NewInspectorFromRedisClient(client)
	queue, err := inspector.GetQueueInfo("mail")
	fmt.Println("tasks:", queue.Pending, err)
	task, err := inspector.GetTaskInfo("mail", handler.TaskID(entry.MessageID))
	fmt.Println(task.Type, string(task.Payload), err)

	server.Close() // an outage costs no attempt
	fmt.Println(delivery.VerdictOf(handler.Deliver(ctx, invoiceEntry())))
	// Output:
	// delivered
	// delivered
	// tasks: 1 <nil>
	// invoice.send {"order":7} <nil>
	// unavailable
}

// A node enqueues the jobs that its registry lists; entries for others wait for a node that
// lists them.
func ExampleRegistry() {
	registry, err := delayedjob.NewRegistry("invoice.send", "invoice.remind")
	fmt.Println(registry.IDs(), err)
	registry.Remove("invoice.remind")
	fmt.Println(registry.Has("invoice.remind"), registry.Add("report.nightly"), registry.IDs())
	// Output:
	// [invoice.remind invoice.send] <nil>
	// false <nil> [invoice.send report.nightly]
}

// The options of a client for the relay: one try, and an end when the attempt's time is up.
func ExampleFailFast() {
	options := delayedjob.FailFast(redis.Options{Addr: "redis.example:6379"})
	fmt.Println(options.Addr, options.MaxRetries, options.DialTimeout, options.ContextTimeoutEnabled)
	// Output: redis.example:6379 -1 1s true
}
