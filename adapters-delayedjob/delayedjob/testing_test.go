package delayedjob

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

const redisURL = "SATCHEL_REDIS_URL"

func TestMain(m *testing.M) {
	if os.Getenv(redisURL) != "" {
		fmt.Println("delayedjob tests: the Redis of " + redisURL + "; miniredis where a test breaks its server")
	} else {
		fmt.Println("delayedjob tests: miniredis; set " + redisURL + " to use a real Redis")
	}
	goleak.VerifyTestMain(m)
}

// server is the Redis of one test: shared when it is real, so tests use queues of
// their own.
type server struct {
	options redis.Options
	mini    *miniredis.Miniredis // nil when real
	client  *redis.Client
}

// newServer returns the real Redis if there is one, otherwise a miniredis.
func newServer(t *testing.T) *server {
	t.Helper()
	url := os.Getenv(redisURL)
	if url == "" {
		return newMini(t)
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatalf("%s is malformed", redisURL)
	}
	s := &server{options: FailFast(*options)}
	s.connect(t)
	return s
}

// newMini returns a Redis that the test may break.
func newMini(t *testing.T) *server {
	t.Helper()
	mini := miniredis.RunT(t)
	s := &server{mini: mini, options: FailFast(redis.Options{Addr: mini.Addr()})}
	s.connect(t)
	return s
}

func (s *server) connect(t *testing.T) {
	t.Helper()
	options := s.options
	s.client = redis.NewClient(&options)
	t.Cleanup(func() { _ = s.client.Close() })
}

// queue returns a queue that no other test uses. On a real Redis everything of it and
// of its bands is removed afterwards: asynq itself would leave statistics behind.
func (s *server) queue(t *testing.T) string {
	t.Helper()
	name := "t" + outbox.NewMessageID().String()
	if s.mini != nil {
		return name
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		keys := s.client.Scan(ctx, 0, "asynq:{"+name+"*", 1000).Iterator()
		for keys.Next(ctx) {
			s.client.Del(ctx, keys.Val())
		}
		for queue := range Queues(name) {
			s.client.SRem(ctx, "asynq:queues", queue)
		}
		if err := keys.Err(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
	return name
}

func (s *server) inspector() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(s.client) }

// handler returns a handler that knows the given jobs.
func (s *server) handler(t *testing.T, change func(*Config), ids ...string) *Handler {
	t.Helper()
	registry, err := NewRegistry(ids...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Client: s.client, Registry: registry}
	if change != nil {
		change(&cfg)
	}
	h, err := NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func newMux(t *testing.T, cfg MuxConfig) *Mux {
	t.Helper()
	m, err := NewMux(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// work runs an asynq server on the queue's bands until the test ends.
func (s *server) work(t *testing.T, queue string, handler asynq.Handler) (stop func()) {
	t.Helper()
	srv := asynq.NewServerFromRedisClient(s.client, asynq.Config{
		Concurrency: 30, Queues: Queues(queue), LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 5 * time.Millisecond, DelayedTaskCheckInterval: 20 * time.Millisecond,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return time.Millisecond },
		ShutdownTimeout: 5 * time.Second,
	})
	if err := srv.Start(handler); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			srv.Shutdown()
		}
	}
	t.Cleanup(stop)
	return stop
}

// info returns the task of a message, or nil.
func (s *server) info(h *Handler, queue string, id outbox.MessageID) *asynq.TaskInfo {
	info, err := s.inspector().GetTaskInfo(queue, h.TaskID(id))
	if err != nil {
		return nil
	}
	return info
}

func envelope(job string, s Snapshot) delivery.Envelope {
	control, _ := json.Marshal(s)
	return delivery.Envelope{
		ID: 1, MessageID: outbox.NewMessageID(),
		DestinationType: destination.DelayedJob, Destination: job, EventType: job,
		Payload: []byte(`{"order":7}`), ContentType: outbox.JSONContentType,
		Metadata: outbox.Metadata{Delivery: map[string]json.RawMessage{DeliveryKey: control}},
		Attempt:  1, MaxAttempts: 20,
	}
}

func deliver(t *testing.T, h *Handler, e delivery.Envelope) {
	t.Helper()
	if err := h.Deliver(t.Context(), e); err != nil {
		t.Fatalf("deliver: %v", err)
	}
}

// eventually waits for something that another goroutine or process does.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up waiting until %s", what)
		case <-tick.C:
		}
	}
}

func wantVerdict(t *testing.T, err error, want delivery.Verdict) {
	t.Helper()
	if got := delivery.VerdictOf(err); got != want {
		t.Fatalf("verdict is %s (%v), want %s", got, err, want)
	}
}

func wantText(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
