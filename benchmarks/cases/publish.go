package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/pgxtx"
)

var publishCase = Case{
	Name: "publish",
	About: "Transactions per second of 16 connections that each insert a business row and publish one entry, in rounds that alternate. " +
		"\"asleep\": a relay is registered as sleeping, so every transaction notifies; \"awake\": relays are busy. The ratio is the median of the " +
		"ratios to the same round without a trigger.",
	Run: runPublish,
}

const publishers = 16

// publishWarmUp is not measured: each session plans its statements anew, since the tables were emptied and the triggers changed.
const publishWarmUp = 100 * time.Millisecond

// publishing is a way to write business rows.
type publishing struct {
	name    string
	outbox  bool
	trigger string // ENABLE or DISABLE the trigger
	prepare []string
}

// perRow is the trigger of schema version 1 on the present table.
const perRow = `
	CREATE OR REPLACE FUNCTION bench_per_row() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN PERFORM pg_notify('transactional_outbox_channel', NEW.id::text); RETURN NEW; END $$`

const (
	dropPerRow   = "DROP TRIGGER IF EXISTS bench_per_row ON outbox"
	createPerRow = "CREATE TRIGGER bench_per_row AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION bench_per_row()"
	noRelays     = "DELETE FROM outbox_relay"
)

func relays(asleep bool) string {
	return fmt.Sprintf("INSERT INTO outbox_relay (owner, asleep) SELECT 'relay-' || i, %v FROM generate_series(1, 3) i", asleep)
}

// bare is the variant that the others are compared with.
const bare = "no trigger"

var publishings = []publishing{
	{name: "business row alone", trigger: "DISABLE"},
	{name: "trigger per row", outbox: true, trigger: "DISABLE", prepare: []string{createPerRow}},
	{name: "asleep", outbox: true, trigger: "ENABLE", prepare: []string{relays(true)}},
	{name: "awake", outbox: true, trigger: "ENABLE", prepare: []string{relays(false)}},
	{name: bare, outbox: true, trigger: "DISABLE"}, // beside "awake", which comes closest
}

func runPublish(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, publishers)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	if err := b.exec(ctx, businessTable, perRow); err != nil {
		return err
	}
	rates, ratios := make([]sample.Set, len(publishings)), make([]sample.Set, len(publishings))
	for round := -1; round < e.Scale.PublishRounds; round++ { // the first one warms up
		var base float64
		measured := make([]float64, len(publishings))
		for k := range publishings {
			i := k
			if round%2 != 0 { // to and fro, so that what grows with time favours nobody
				i = len(publishings) - 1 - k
			}
			if measured[i], err = b.publishRound(ctx, e, publishings[i]); err != nil {
				return fmt.Errorf("publish, %s: %w", publishings[i].name, err)
			}
			if publishings[i].name == bare {
				base = measured[i]
			}
		}
		for i, rate := range measured {
			if round >= 0 {
				rates[i].Add(rate)
				ratios[i].Add(rate / base)
			}
		}
	}
	for i, p := range publishings {
		e.Emit(report.Measurement{
			Case: "publish", Series: p.name,
			Values: map[string]float64{"rate": rates[i].Median(), "ratio": ratios[i].Median()},
		})
		e.Logf("publish, %s: %.0f/s, ratio %.2f", p.name, rates[i].Median(), ratios[i].Median())
	}
	return nil
}

const businessTable = "CREATE TABLE business (id bigserial PRIMARY KEY, body jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())"

const insertBusiness = "INSERT INTO business (body) VALUES ($1)"

// payload is what every entry carries, about 120 bytes.
var payload = json.RawMessage(`{"n": 1, "pad": "` + strings.Repeat("x", 100) + `"}`)

func (b *bench) publishRound(ctx context.Context, e *Env, p publishing) (rate float64, err error) {
	statements := append([]string{
		"TRUNCATE outbox, business", dropPerRow, noRelays,
		"ALTER TABLE outbox " + p.trigger + " TRIGGER transactional_outbox_notify",
	}, p.prepare...)
	if err := b.exec(ctx, statements...); err != nil {
		return 0, err
	}
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return 0, err
	}
	var done atomic.Int64
	failures := make([]error, publishers)
	began := time.Now().Add(publishWarmUp)
	end := began.Add(e.Scale.PublishRound)
	var running sync.WaitGroup
	for i := range publishers {
		running.Go(func() {
			for n := 0; failures[i] == nil && time.Now().Before(end); n++ {
				failures[i] = pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, insertBusiness, payload); err != nil || !p.outbox {
						return err
					}
					_, err := publisher.Publish(ctx, tx, entry(strconv.Itoa(i)+"-"+strconv.Itoa(n)))
					return err
				})
				if time.Now().After(began) {
					done.Add(1)
				}
			}
		})
	}
	running.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(failures...)
}

// entry is what is published; its aggregate tells it from others.
func entry(aggregate string) outbox.Entry {
	return outbox.Entry{
		DestinationType: benchType, Destination: "mine", EventType: "e",
		AggregateType: "Order", AggregateID: aggregate, Payload: payload,
	}
}

var publishBatchCase = Case{
	Name:  "publish-batch",
	About: "Entries per second of one connection that publishes several with one statement, each in a transaction of its own, relays awake.",
	Run:   runPublishBatch,
}

func runPublishBatch(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, 1)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		return err
	}
	if err := b.exec(ctx, relays(false)); err != nil {
		return err
	}
	for _, size := range e.Scale.BatchSizes {
		if err := b.exec(ctx, "TRUNCATE outbox"); err != nil {
			return err
		}
		rows := min(e.Scale.BatchRows, 2000*size) // a statement each for size 1 takes long enough
		entries := make([]outbox.Entry, size)
		began := time.Now()
		for n := 0; n < rows; n += size {
			for k := range entries {
				entries[k] = entry(strconv.Itoa(n + k))
			}
			err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
				_, err := publisher.PublishAll(ctx, tx, entries...)
				return err
			})
			if err != nil {
				return err
			}
		}
		rate := float64(rows) / time.Since(began).Seconds()
		e.Emit(report.Measurement{
			Case: "publish-batch", Series: "satchel", Params: map[string]string{"size": strconv.Itoa(size)}, Values: map[string]float64{"rate": rate},
		})
		e.Logf("publish-batch %d: %.0f/s", size, rate)
	}
	return nil
}
