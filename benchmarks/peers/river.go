package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverPeer measures River.
type riverPeer struct{ pool *pgxpool.Pool }

// jobArgs are the message.
type jobArgs struct {
	N   int    `json:"n"`
	Pad string `json:"pad"`
}

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return "bench" }

// worker is the no-op handler.
type worker struct {
	river.WorkerDefaults[jobArgs]
	arrive func(n int)
}

// Work implements river.Worker.
func (w *worker) Work(_ context.Context, job *river.Job[jobArgs]) error {
	w.arrive(job.Args.N)
	return nil
}

// fetch is how often River may ask for jobs.
type fetch struct {
	name           string
	cooldown, poll time.Duration
}

var (
	riverTuned   = fetch{name: "tuned", cooldown: 2 * time.Millisecond, poll: 20 * time.Millisecond}
	riverDefault = fetch{name: "default", cooldown: river.FetchCooldownDefault, poll: river.FetchPollIntervalDefault}
)

func (r *riverPeer) migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(r.pool), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// client returns one that works, or, without workers, one that inserts only.
func (r *riverPeer) client(workers int, f fetch, arrive func(n int)) (*river.Client[pgx.Tx], error) {
	cfg := &river.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if workers > 0 {
		cfg.Workers = river.NewWorkers()
		river.AddWorker(cfg.Workers, &worker{arrive: arrive})
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}
		cfg.FetchCooldown, cfg.FetchPollInterval = f.cooldown, f.poll
	}
	return river.NewClient(riverpgxv5.New(r.pool), cfg)
}

func (r *riverPeer) drain(ctx context.Context, p plan) error {
	if err := r.migrate(ctx); err != nil {
		return err
	}
	for _, w := range p.drains() {
		for _, workers := range []int{500, 1000, 2000} {
			var rates []float64
			for range p.rounds {
				rate, err := r.drainOnce(ctx, w, workers)
				if err != nil {
					return fmt.Errorf("river with %d workers: %w", workers, err)
				}
				rates = append(rates, rate)
			}
			emit(measurement{Case: "drain", Series: "river", Params: map[string]string{
				"workers": strconv.Itoa(workers), "handler": w.takes.String(),
			}, Values: map[string]float64{"rate": median(rates)}})
		}
	}
	return nil
}

func (r *riverPeer) drainOnce(ctx context.Context, w work, workers int) (rate float64, err error) {
	if _, err := r.pool.Exec(ctx, "TRUNCATE river_job RESTART IDENTITY"); err != nil {
		return 0, err
	}
	rows := w.rows
	c := newCountdown(rows)
	client, err := r.client(workers, riverTuned, w.handle(c))
	if err != nil {
		return 0, err
	}
	const chunk = 5000
	for first := 0; first < rows; first += chunk {
		jobs := make([]river.InsertManyParams, 0, chunk)
		for n := first; n < min(rows, first+chunk); n++ {
			jobs = append(jobs, river.InsertManyParams{Args: jobArgs{N: n, Pad: padding}})
		}
		if _, err := client.InsertManyFast(ctx, jobs); err != nil {
			return 0, err
		}
	}
	if _, err := r.pool.Exec(ctx, "VACUUM ANALYZE river_job"); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	if err = c.wait(ctx); err == nil {
		err = r.recorded(ctx)
	}
	took := time.Since(began)
	return float64(rows) / took.Seconds(), errors.Join(err, client.Stop(context.WithoutCancel(ctx)))
}

// recorded waits until every job that was worked is recorded as completed.
func (r *riverPeer) recorded(ctx context.Context) error {
	for {
		var running bool
		err := r.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM river_job WHERE state = 'running')").Scan(&running)
		if err != nil || !running {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (r *riverPeer) publish(ctx context.Context, p plan) error {
	if err := r.migrate(ctx); err != nil {
		return err
	}
	client, err := r.client(0, fetch{}, nil)
	if err != nil {
		return err
	}
	rate, err := publishRate(ctx, r.pool, p.publish, func(tx pgx.Tx, n int) error {
		_, err := client.InsertTx(ctx, tx, jobArgs{N: n, Pad: padding}, nil)
		return err
	})
	if err != nil {
		return err
	}
	emit(measurement{Case: "publish", Series: "river", Values: map[string]float64{"rate": rate}})
	return nil
}

func (r *riverPeer) latency(ctx context.Context, p plan) error {
	if err := r.migrate(ctx); err != nil {
		return err
	}
	for _, f := range []fetch{riverDefault, riverTuned} {
		for _, rate := range []int{100, 1000} {
			values, err := r.latencyAt(ctx, f, rate, int(p.latency.Seconds()*float64(rate)))
			if err != nil {
				return err
			}
			emit(measurement{Case: "latency", Series: "river", Params: map[string]string{"rate": strconv.Itoa(rate), "tuning": f.name}, Values: values})
		}
	}
	return nil
}

func (r *riverPeer) latencyAt(ctx context.Context, f fetch, rate, messages int) (map[string]float64, error) {
	if _, err := r.pool.Exec(ctx, "TRUNCATE river_job RESTART IDENTITY"); err != nil {
		return nil, err
	}
	c := newCountdown(max(1, messages))
	client, err := r.client(100, f, c.arrive)
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // its listener connects meanwhile
	err = publishSteadily(ctx, r.pool, rate, c, func(tx pgx.Tx, n int) error {
		_, err := client.InsertTx(ctx, tx, jobArgs{N: n, Pad: padding}, nil)
		return err
	})
	if stopErr := client.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	return c.quantiles(), err
}
