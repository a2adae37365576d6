package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	shopWorkers = 4
	// rollbackEvery makes every n-th customer change their mind.
	rollbackEvery = 10
)

// shop takes orders: the business rows and the outbox entries of one step are written
// in one transaction.
type shop struct {
	pool      *pgxpool.Pool
	transport transport
}

// run takes orders 1 to n on several workers and returns the first error.
func (s *shop) run(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range shopWorkers {
		workers.Go(func() {
			for i := range numbers {
				if err := s.order(ctx, i); err != nil {
					cancel(fmt.Errorf("order %d: %w", i, err))
					return
				}
			}
		})
	}
feed:
	for i := 1; i <= n; i++ {
		select {
		case numbers <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(numbers)
	workers.Wait()
	return context.Cause(ctx)
}

// order takes one order in two transactions: placed; then paid and shipped at once.
func (s *shop) order(ctx context.Context, number int) error {
	id := orderID(number)
	cents := int64(number%500+1) * 100
	if number%rollbackEvery == 0 {
		if err := s.regret(ctx, fmt.Sprintf("void-%07d", number), cents); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.place(ctx, tx, id, cents) })
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		paid, shipped := OrderEvent{OrderID: id, Seq: 2, Cents: cents}, OrderEvent{OrderID: id, Seq: 3, Cents: cents}
		const update = `WITH paid AS (UPDATE orders SET state = 'shipped' WHERE id = $1 RETURNING id)
			INSERT INTO order_events (order_id, seq, destination) SELECT id, 2, $2 FROM paid UNION ALL SELECT id, 3, $3 FROM paid`
		if _, err := tx.Exec(ctx, update, id, s.transport.route(paid), s.transport.route(shipped)); err != nil {
			return err
		}
		return s.transport.publish(ctx, tx, paid, shipped)
	})
}

func (s *shop) place(ctx context.Context, tx pgx.Tx, id string, cents int64) error {
	placed := OrderEvent{OrderID: id, Seq: 1, Cents: cents}
	const insert = `WITH placed AS (INSERT INTO orders (id, state, cents) VALUES ($1, 'placed', $2) RETURNING id)
		INSERT INTO order_events (order_id, seq, destination) SELECT id, 1, $3 FROM placed`
	if _, err := tx.Exec(ctx, insert, id, cents, s.transport.route(placed)); err != nil {
		return err
	}
	return s.transport.publish(ctx, tx, placed)
}

// regret places an order and rolls it back: its entry must never be delivered.
func (s *shop) regret(ctx context.Context, id string, cents int64) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	err = s.place(ctx, tx, id, cents)
	// Rolled back with a context of its own, or the pool would have to close the connection.
	if rollback := tx.Rollback(context.WithoutCancel(ctx)); err == nil {
		err = rollback
	}
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `INSERT INTO rolled_back (order_id) VALUES ($1)`, id)
	return err
}
