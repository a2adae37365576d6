package delayedjob

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
)

// failing makes every command fail.
type failing struct{ err error }

func (failing) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f failing) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		cmd.SetErr(f.err)
		return f.err
	}
}

func (f failing) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return f.err }
}

func TestConformance(t *testing.T) {
	t.Parallel()
	queue := newServer(t).queue(t)
	control, err := json.Marshal(Snapshot{queue, 0, 3})
	if err != nil {
		t.Fatal(err)
	}
	deliverytest.Run(t, deliverytest.Harness{
		New: func(t *testing.T) delivery.Handler {
			return newServer(t).handler(t, func(c *Config) { c.Fingerprint = "redis-7" }, "a")
		},
		Known: "a",
		Valid: func(e *delivery.Envelope) {
			e.Metadata.Delivery = map[string]json.RawMessage{DeliveryKey: control}
		},
		Undecodable:        func(e *delivery.Envelope) { e.Payload = []byte("do-not-quote-me") },
		UndecodableVerdict: delivery.VerdictPermanent,
		Failing: func(t *testing.T, err error) delivery.Handler {
			s := newMini(t)
			s.client.AddHook(failing{err})
			return s.handler(t, nil, "a")
		},
	})
}
