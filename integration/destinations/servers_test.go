package destinations

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/servers/kafkaserver"
	"github.com/satchel-go/satchel/servers/redisserver"
)

// server is what the kinds of servers have in common here.
type server interface {
	fmt.Stringer
	Stop(context.Context) error
}

// keeper shares a server among the tests that run at the same time: it is found for the first and stopped after the last.
type keeper[S server] struct {
	find func(ctx context.Context, private bool, logf func(string, ...any)) (S, error)

	mu    sync.Mutex
	users int
	held  S
}

var (
	kafkas = keeper[*kafkaserver.Server]{find: func(ctx context.Context, private bool, logf func(string, ...any)) (*kafkaserver.Server, error) {
		return kafkaserver.Find(ctx, kafkaserver.Options{Private: private, Logf: logf})
	}}
	redises = keeper[*redisserver.Server]{find: func(ctx context.Context, private bool, logf func(string, ...any)) (*redisserver.Server, error) {
		return redisserver.Find(ctx, redisserver.Options{Private: private, Logf: logf})
	}}
)

// shared returns the server that the environment names, or the one that other tests use too.
func (k *keeper[S]) shared(t testing.TB) S {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users == 0 {
		k.held = k.open(t, false)
	}
	k.users++
	t.Cleanup(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.users--; k.users == 0 {
			stop(t, k.held)
		}
	})
	return k.held
}

// private returns a server that the test may crash.
func (k *keeper[S]) private(t testing.TB) S {
	t.Helper()
	s := k.open(t, true)
	t.Cleanup(func() { stop(t, s) })
	return s
}

func (k *keeper[S]) open(t testing.TB, private bool) S {
	t.Helper()
	s, err := k.find(lab.Context(t), private, t.Logf)
	if err != nil {
		t.Fatalf("a server is missing: run the tests by make test, or fetch Kafka with scripts/kafka: %v", err)
	}
	t.Log(s) // which version it is, and whether it is a stand-in
	return s
}

func stop(t testing.TB, s server) {
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// redisClient connects to a server until the test ends.
func redisClient(t testing.TB, s *redisserver.Server) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatal("the address of the test server is not a URL of Redis")
	}
	fast := delayedjob.FailFast(*o)
	client := redis.NewClient(&fast)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
