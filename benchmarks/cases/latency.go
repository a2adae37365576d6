package cases

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/listener"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

var latencyCase = Case{
	Name: "latency",
	About: "Time from just before the publisher's commit to the handler, at a fixed rate of transactions. \"awake\": a stream without pauses (a second, " +
		"unmeasured stream keeps the relay awake at low rates). \"asleep\": trains of 20 at that rate, each begun once the relay has gone to sleep.",
	Run: runLatency,
}

// train is the number of messages between two naps of the relay.
const train = 20

func runLatency(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, publishers+4)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	if err := b.exec(ctx, businessTable); err != nil {
		return err
	}
	for _, rate := range e.Scale.Rates {
		for _, asleep := range []bool{false, true} {
			m := report.Measurement{
				Case: "latency", Series: "satchel",
				Params: map[string]string{"rate": strconv.Itoa(rate), "from": from(asleep)}, Values: map[string]float64{},
			}
			if err := b.latency(ctx, e, rate, asleep, m.Values); err != nil {
				return fmt.Errorf("latency at %d/s from %s: %w", rate, from(asleep), err)
			}
			e.Emit(m)
			e.Logf("latency at %d/s from %s: p50 %.1f ms, p99 %.1f ms", rate, from(asleep), m.Values["p50_ms"], m.Values["p99_ms"])
		}
	}
	return nil
}

func from(asleep bool) string {
	if asleep {
		return "asleep"
	}
	return "awake"
}

// stopwatch takes the times of numbered messages.
type stopwatch struct {
	began   time.Time
	commits []atomic.Int64 // nanoseconds after began
	arrived []atomic.Int64
	left    atomic.Int64
	done    chan struct{}
}

func newStopwatch(n int) *stopwatch {
	w := &stopwatch{began: time.Now(), commits: make([]atomic.Int64, n), arrived: make([]atomic.Int64, n), done: make(chan struct{})}
	w.left.Store(int64(n))
	return w
}

func (w *stopwatch) commit(i int) { w.commits[i].Store(int64(time.Since(w.began))) }

// arrive takes the first arrival of a message.
func (w *stopwatch) arrive(e delivery.Envelope) {
	i, err := strconv.Atoi(strings.TrimPrefix(e.AggregateID, "m-"))
	if err == nil && w.arrived[i].CompareAndSwap(0, int64(time.Since(w.began))) && w.left.Add(-1) == 0 {
		close(w.done)
	}
}

func (w *stopwatch) times() (set sample.Set) {
	for i := range w.commits {
		set.AddDuration(time.Duration(w.arrived[i].Load() - w.commits[i].Load()))
	}
	return set
}

func (b *bench) latency(ctx context.Context, e *Env, rate int, asleep bool, values map[string]float64) error {
	n := max(5, int(e.Scale.Latency.Seconds()*float64(rate)))
	if asleep {
		n = min(n, 1000) // falling asleep before each train is what takes the time
	}
	w := newStopwatch(n)
	if err := b.exec(ctx, "TRUNCATE outbox, outbox_lease, outbox_relay, business"); err != nil {
		return err
	}
	wake, err := listener.New(b.URL, listener.Config{})
	if err != nil {
		return err
	}
	r, err := relay.New(b.store, []delivery.Handler{handler{calls: w.arrive}}, relay.Config{Waker: wake, OnPublished: relay.Delete})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var failures [2]error
	var running sync.WaitGroup
	running.Go(func() { failures[0] = wake.Run(ctx) })
	running.Go(func() { failures[1] = r.Run(ctx) })
	err = b.untilAsleep(ctx)
	if err == nil {
		err = b.publishAt(ctx, w, rate, n, asleep)
	}
	if err == nil {
		select {
		case <-w.done:
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(time.Minute):
			err = fmt.Errorf("%d of %d messages did not arrive within a minute", w.left.Load(), n)
		}
	}
	stop()
	running.Wait()
	if err = errors.Join(err, failures[0], failures[1]); err != nil {
		return err
	}
	set := w.times()
	values["p50_ms"], values["p99_ms"], values["p999_ms"] = set.Median(), set.Quantile(0.99), set.Quantile(0.999)
	values["messages"] = float64(n)
	return nil
}

// untilAsleep waits until the relay is registered as asleep, which its listener and its
// last looks have come before.
func (b *bench) untilAsleep(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var asleep bool
		if err := b.conn.QueryRow(ctx, "SELECT count(*) > 0 FROM outbox_relay WHERE asleep").Scan(&asleep); err != nil {
			return err
		}
		if asleep {
			time.Sleep(150 * time.Millisecond) // the looks after falling asleep
			return nil
		}
	}
	return errors.New("the relay did not fall asleep within a minute")
}

// publishAt publishes n messages at a rate, whatever becomes of them.
func (b *bench) publishAt(ctx context.Context, w *stopwatch, rate, n int, asleep bool) error {
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	send := func(aggregate string, before func()) error {
		tx, err := b.pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		if _, err := tx.Exec(ctx, insertBusiness, payload); err != nil {
			return err
		}
		if _, err := publisher.Publish(ctx, tx, entry(aggregate)); err != nil {
			return err
		}
		before()
		return tx.Commit(ctx)
	}
	interval := time.Second / time.Duration(rate)
	failures := make(chan error, n+1)
	var sending sync.WaitGroup
	if !asleep && interval > 20*time.Millisecond {
		keep, quiet := context.WithCancel(ctx)
		defer sending.Wait()
		defer quiet()
		sending.Go(func() {
			for i := 0; keep.Err() == nil; i++ {
				if err := send("filler-"+strconv.Itoa(i), func() {}); err != nil {
					failures <- err
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	var messages sync.WaitGroup
	next := time.Now()
	for i := range n {
		if asleep && (i%train == 0 || interval > 500*time.Millisecond) {
			messages.Wait()
			if err := b.untilAsleep(ctx); err != nil {
				return err
			}
			if now := time.Now(); next.Before(now) {
				next = now
			}
		}
		time.Sleep(time.Until(next))
		next = next.Add(interval)
		messages.Go(func() {
			if err := send("m-"+strconv.Itoa(i), func() { w.commit(i) }); err != nil {
				failures <- err
			}
		})
	}
	messages.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}
