package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	publishers     = 16
	businessTable  = "CREATE TABLE business (id bigserial PRIMARY KEY, body jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())"
	insertBusiness = "INSERT INTO business (body) VALUES ($1)"
	// longest is far more than any measurement takes: a lost message must not hang a run.
	longest = 5 * time.Minute
)

// padding makes a payload as large as that of satchel's own measurements.
var padding = strings.Repeat("x", 100)

// business is the body of a business row.
var business = `{"n": 1, "pad": "` + padding + `"}`

// work is what a drain does: how many messages, and how long each is handled.
type work struct {
	rows  int
	takes time.Duration
}

// drains are those that a plan asks for. What takes time is measured with fewer messages,
// since a consumer that handles one after another takes it for each.
func (p plan) drains() []work { return []work{{p.rows, 0}, {p.slow, time.Millisecond}} }

// handle is the handler: it counts and takes its time.
func (w work) handle(c *countdown) func(n int) {
	return func(n int) {
		if w.takes > 0 {
			time.Sleep(w.takes)
		}
		c.arrive(n)
	}
}

// countdown closes done when n messages have arrived. Arrivals are counted by number,
// so that a message that is delivered again does not count twice.
type countdown struct {
	began   time.Time
	seen    []atomic.Int64 // nanoseconds after began, 0 for not arrived
	commits []atomic.Int64
	left    atomic.Int64
	done    chan struct{}
}

func newCountdown(n int) *countdown {
	c := &countdown{began: time.Now(), seen: make([]atomic.Int64, n), commits: make([]atomic.Int64, n), done: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) arrive(n int) {
	if n >= 0 && n < len(c.seen) && c.seen[n].CompareAndSwap(0, int64(time.Since(c.began))) && c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// wait waits for the last message.
func (c *countdown) wait(ctx context.Context) error {
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(longest):
		return fmt.Errorf("%d messages did not arrive in %v", c.left.Load(), longest)
	}
}

// quantiles returns the times from commit to arrival in milliseconds.
func (c *countdown) quantiles() map[string]float64 {
	times := make([]float64, len(c.seen))
	for i := range times {
		times[i] = float64(c.seen[i].Load()-c.commits[i].Load()) / float64(time.Millisecond)
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(len(times)-1, int(q*float64(len(times))))] }
	return map[string]float64{"p50_ms": at(0.5), "p99_ms": at(0.99), "p999_ms": at(0.999), "messages": float64(len(times))}
}

// median returns the middle value, of two the smaller.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// inTransaction writes a business row and whatever publish writes, and commits.
func inTransaction(ctx context.Context, pool *pgxpool.Pool, publish func(pgx.Tx) error, before func()) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, insertBusiness, business); err != nil {
		return err
	}
	if err := publish(tx); err != nil {
		return err
	}
	before()
	return tx.Commit(ctx)
}

// publishRate publishes on 16 connections for a while and returns transactions per second.
func publishRate(ctx context.Context, pool *pgxpool.Pool, length time.Duration, publish func(tx pgx.Tx, n int) error) (float64, error) {
	var done atomic.Int64
	failures := make([]error, publishers)
	began := time.Now()
	var running sync.WaitGroup
	for i := range publishers {
		running.Go(func() {
			for n := i; failures[i] == nil && time.Since(began) < length; n += publishers {
				failures[i] = inTransaction(ctx, pool, func(tx pgx.Tx) error { return publish(tx, n) }, func() {})
				done.Add(1)
			}
		})
	}
	running.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(failures...)
}

// publishSteadily publishes numbered messages at a fixed rate, whatever becomes of them,
// and waits until all have arrived.
func publishSteadily(ctx context.Context, pool *pgxpool.Pool, rate int, c *countdown, publish func(tx pgx.Tx, n int) error) error {
	failures := make(chan error, len(c.seen))
	var sending sync.WaitGroup
	next := time.Now()
	for n := range c.seen {
		time.Sleep(time.Until(next))
		next = next.Add(time.Second / time.Duration(rate))
		sending.Go(func() {
			err := inTransaction(ctx, pool, func(tx pgx.Tx) error { return publish(tx, n) }, func() {
				c.commits[n].Store(int64(time.Since(c.began)))
			})
			if err != nil {
				failures <- err
			}
		})
	}
	sending.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return c.wait(ctx)
	}
}
