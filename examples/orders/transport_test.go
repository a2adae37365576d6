package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/relay"
)

// twice makes every delivery again, as another node would after a crash.
type twice struct{ delivery.Handler }

func (h twice) Deliver(ctx context.Context, e delivery.Envelope) error {
	if err := h.Handler.Deliver(ctx, e); err != nil {
		return err
	}
	return h.Handler.Deliver(ctx, e)
}

// From a transaction of the shop to the consumer, in one process and without the kill.
func TestTransportDropsWhatComesTwice(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			dsn, pool := testDatabase(t, 4)
			v := testTransport(t, name, dsn)
			stage, err := v.prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, setting := range stage.environment() {
				variable, value, _ := strings.Cut(setting, "=")
				t.Setenv(variable, value)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			address, ended := make(chan string, 1), make(chan error, 1)
			go func() { ended <- v.consume(ctx, testConsumer(t, pool), func(a string) { address <- a }) }()

			n := &node{hosted: v.names(), transport: v, pool: pool, logger: slog.New(slog.DiscardHandler)}
			select {
			case n.consumer = <-address:
			case err := <-ended:
				t.Fatalf("the consumer ended: %v", err)
			}
			handler, closeHandler, err := v.handler(n)
			if err != nil {
				t.Fatal(err)
			}
			publishAndDrain(t, n, twice{handler})
			closeHandler()

			var applied, ordered, dropped int
			const query = `SELECT count(*), count(*) FILTER (WHERE in_order), (SELECT count(*) FROM duplicates WHERE dropped_by = $1) FROM applied`
			for inTransit := int64(1); inTransit > 0; time.Sleep(20 * time.Millisecond) {
				if inTransit, err = stage.inTransit(ctx); err != nil {
					t.Fatal(err)
				}
				if err := pool.QueryRow(ctx, query, k.droppedBy).Scan(&applied, &ordered, &dropped); err != nil {
					t.Fatal(err)
				}
			}
			if applied != 3 || dropped != 3 || ordered != 3 && k.unordered == "" {
				t.Errorf("%d applied, %d of them in order, %d dropped by %s; want 3, 3, 3", applied, ordered, dropped, k.droppedBy)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the consumer: %v", err)
			}
			if err := stage.remove(t.Context()); err != nil {
				t.Errorf("remove: %v", err)
			}
			if left := leftBehind(t, v); len(left) > 0 {
				t.Errorf("left on the server: %q", left)
			}
		})
	}
}

// publishAndDrain takes the events of one order through a relay.
func publishAndDrain(t *testing.T, n *node, handler delivery.Handler) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), n.pool, func(tx pgx.Tx) error {
		return n.transport.publish(t.Context(), tx,
			OrderEvent{OrderID: "order-1", Seq: 1}, OrderEvent{OrderID: "order-1", Seq: 2}, OrderEvent{OrderID: "order-1", Seq: 3})
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := newStore(n.pool)
	if err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(store, []delivery.Handler{handler}, relay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if attempts, err := r.Drain(t.Context()); err != nil || attempts != 3 {
		t.Fatalf("%d attempts, error %v", attempts, err)
	}
}

// leftBehind lists what a server still holds of a run.
func leftBehind(t *testing.T, v transport) []string {
	t.Helper()
	switch v := v.(type) {
	case *viaKafka:
		admin, err := sarama.NewClusterAdmin(v.connection.Brokers, sarama.NewConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = admin.Close() }()
		topics, err := admin.ListTopics()
		if err != nil {
			t.Fatal(err)
		}
		groups, err := admin.ListConsumerGroups()
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(append(slices.Collect(maps.Keys(topics)), slices.Collect(maps.Keys(groups))...),
			func(name string) bool { return !strings.HasPrefix(name, v.run) })
	case *viaJobs:
		client := v.client()
		defer func() { _ = client.Close() }()
		keys, err := client.Keys(t.Context(), "*"+v.queue+"*").Result()
		if err != nil {
			t.Fatal(err)
		}
		known, err := client.SIsMember(t.Context(), "asynq:queues", v.queue).Result()
		if err != nil {
			t.Fatal(err)
		}
		if known {
			keys = append(keys, "asynq:queues")
		}
		return keys
	}
	return nil
}

func TestWebhooksMustBeSigned(t *testing.T) {
	dsn, pool := testDatabase(t, 1)
	v := testTransport(t, "http", dsn)
	if err := v.consume(t.Context(), testConsumer(t, pool), func(string) {}); err == nil {
		t.Error("a consumer without a secret")
	}
	stage, err := v.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(stage.environment()[0], "=")
	t.Setenv(secretVariable, secret)
	ctx, cancel := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- v.consume(ctx, testConsumer(t, pool), func(a string) { address <- a }) }()
	reply, err := http.Post(<-address+"/orders.mail", "application/json", strings.NewReader(`{"orderId":"order-1","seq":3}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest {
		t.Errorf("without signature: status %d", reply.StatusCode)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
