package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/listener"
)

const (
	// leaseTimeout is short, so that the demonstration need not wait long for the
	// entries of the killed node.
	leaseTimeout = 2 * time.Second
	// recoverEvery is how often each node looks for leases that expired.
	recoverEvery = 500 * time.Millisecond
	// nodeConcurrency is the number of deliveries of one node at a time.
	nodeConcurrency = 16
	// nodeConnections serve claims, settlements, renewals and recovery; the listener has its own.
	nodeConnections = 4
)

// node is one relay process.
type node struct {
	dsn       string
	name      string
	hosted    []string // destinations that it serves
	consumer  string   // address of the consumer, for transports that go there directly
	transport transport
	gate      *gate // nil for a node that is not to be killed
	pool      *pgxpool.Pool
	logger    *slog.Logger
}

// dropped notes a message that the destination recognised as one it has already.
func (n *node) dropped(ctx context.Context, messageID, by string) error {
	_, err := n.pool.Exec(ctx, insertDuplicate, messageID, by)
	return err
}

// run delivers what the node hosts until ctx ends.
func (n *node) run(ctx context.Context) (err error) {
	n.logger = n.logger.With("node", n.name)
	if n.pool, err = newPool(ctx, n.dsn, nodeConnections); err != nil {
		return err
	}
	defer n.pool.Close()
	handler, closeHandler, err := n.transport.handler(n)
	if err != nil {
		return err
	}
	defer closeHandler()
	if n.gate != nil {
		handler = n.gate.around(handler)
	}
	store, err := newStore(n.pool)
	if err != nil {
		return err
	}
	waker, err := listener.New(n.dsn, listener.Config{Logger: n.logger})
	if err != nil {
		return err
	}
	r, err := relay.New(store, []delivery.Handler{handler}, relay.Config{
		Waker:       waker,
		BatchSize:   4 * nodeConcurrency,
		Concurrency: nodeConcurrency, LeaseTimeout: leaseTimeout,
		Logger: n.logger,
	})
	if err != nil {
		return err
	}
	// The helpers end after the relay, which waits for what is under way.
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { _ = waker.Run(ctx) }) // without it the relay polls
	helpers.Go(func() { recoverLeases(ctx, maintenance.Recovery{Store: store, Logger: n.logger}) })
	err = r.Run(ctx)
	cancel()
	helpers.Wait()
	return err
}

// recoverLeases returns the entries of dead nodes to whoever serves them, until ctx
// ends. Every node does it; they do not get into each other's way. A run that fails is
// logged by the recovery itself, and the next one goes on.
func recoverLeases(ctx context.Context, recovery maintenance.Recovery) {
	ticker := time.NewTicker(recoverEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if _, err := recovery.Run(ctx); errors.Is(err, context.Canceled) {
				return
			}
		}
	}
}
