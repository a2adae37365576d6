package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
)

var drainCase = Case{
	Name: "drain",
	About: "Entries per second from the start of the relays until the last entry of a backlog is settled. Every entry has an aggregate of " +
		"its own. \"bare loop\" makes the same claims and settlements without a relay, as fast as it can: what a relay could reach at best. " +
		"client_cpu_us is what this process computes for an entry.",
	Run: runDrain,
}

// benchType is the destination type of what is delivered here.
const benchType = destination.Type("BENCH")

// handler stands in for a destination: it takes its time and counts.
type handler struct {
	takes time.Duration
	calls func(delivery.Envelope) // may be nil
}

func (h handler) Type() destination.Type { return benchType }
func (h handler) Scope() claim.Scope     { return claim.All() }

func (h handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	if h.calls != nil {
		h.calls(e)
	}
	if h.takes > 0 {
		time.Sleep(h.takes)
	}
	return nil
}

// drain is one measurement of throughput.
type drain struct {
	after   relay.OnPublished
	relays  int
	batch   int
	takes   time.Duration
	bare    bool
	ordered bool // one aggregate
	rows    int
	check   func(delivery.Envelope) // sees every entry

	handler     delivery.Handler // instead of one that takes time; nil for that
	destination string           // of every entry; "" for one that stands for any
}

func runDrain(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, 4*slices.Max(e.Scale.Relays))
	if err != nil {
		return err
	}
	defer b.close(ctx)
	plan := drainPlan(e.Scale)
	rates, computed := make([]sample.Set, len(plan)), make([]sample.Set, len(plan))
	for range e.Scale.DrainRound { // whole rounds, so that all suffer alike from what disturbs
		for i, d := range plan {
			rate, each, err := b.drain(ctx, d)
			if err != nil {
				return fmt.Errorf("drain %+v: %w", d, err)
			}
			rates[i].Add(rate)
			computed[i].Add(each)
			e.Logf("drain %s %s, %d workers, batch %d, handler %v: %.0f/s, client computes %.1f us each",
				d.series(), d.after, d.relays, d.batch, d.takes, rate, each)
		}
	}
	for i, d := range plan {
		e.Emit(report.Measurement{Case: "drain", Series: d.series(), Params: d.params(), Values: map[string]float64{
			"rate": rates[i].Median(), "client_cpu_us": computed[i].Median(),
		}})
	}
	return nil
}

func (d drain) series() string {
	if d.bare {
		return "bare loop"
	}
	return "satchel"
}

func (d drain) params() map[string]string {
	return map[string]string{
		"mode": string(d.after), "workers": strconv.Itoa(d.relays), "batch": strconv.Itoa(d.batch), "handler": d.takes.String(),
	}
}

// drainPlan lists the drains of a round; relays and bare loops of a kind alternate.
func drainPlan(s Scale) (plan []drain) {
	for _, after := range []relay.OnPublished{relay.Keep, relay.Archive, relay.Delete} {
		for _, takes := range s.Handlers {
			for _, batch := range s.Batches {
				for _, relays := range s.Relays {
					d := drain{after: after, relays: relays, batch: batch, takes: takes, rows: s.DrainRows}
					if takes > 0 {
						d.rows = s.SlowRows
					}
					plan = append(plan, d)
					if d.bare = true; takes == 0 {
						plan = append(plan, d)
					}
				}
			}
		}
	}
	return plan
}

// delivers returns the handler of the relays.
func (d drain) delivers() delivery.Handler {
	if d.handler != nil {
		return d.handler
	}
	return handler{takes: d.takes, calls: d.check}
}

// fill replaces everything in the outbox by due entries, written with the indexes in
// place, as an application would leave them.
func (b *bench) fill(ctx context.Context, d drain) error {
	aggregate := "'a' || i"
	if d.ordered {
		aggregate = "'hot'"
	}
	row := fmt.Sprintf(`%s, '%s', '%s', now() - interval '1 minute' + i * interval '1 us', NULL, 'PENDING', NULL, NULL, 0`,
		aggregate, d.delivers().Type(), cmp.Or(d.destination, "mine"))
	return b.exec(ctx, "TRUNCATE outbox, outbox_lease, outbox_relay, outbox_archive RESTART IDENTITY",
		fmt.Sprintf(insertShape, row, d.rows), "VACUUM ANALYZE outbox")
}

// drain fills the outbox, delivers everything and returns entries per second, and how
// many microseconds this process computed for each.
func (b *bench) drain(ctx context.Context, d drain) (rate, each float64, err error) {
	if err := b.fill(ctx, d); err != nil {
		return 0, 0, err
	}
	began, computed := time.Now(), lab.ProcessorTime()
	if d.bare {
		err = b.bareLoops(ctx, d)
	} else {
		err = b.relays(ctx, d)
	}
	took := time.Since(began)
	computed = lab.ProcessorTime() - computed
	if err != nil {
		return 0, 0, err
	}
	var left int
	if err := b.conn.QueryRow(ctx, "SELECT count(*) FROM outbox WHERE state <> 'PUBLISHED'").Scan(&left); err != nil {
		return 0, 0, err
	}
	if left > 0 {
		return 0, 0, fmt.Errorf("%d entries are left", left)
	}
	return float64(d.rows) / took.Seconds(), 1e6 * computed.Seconds() / float64(d.rows), nil
}

// enough is far more than any drain takes: a lost entry must not hang the run.
const enough = 10 * time.Minute

// relays runs relays until every entry is settled.
func (b *bench) relays(ctx context.Context, d drain) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var settled atomic.Int64
	done := make(chan struct{})
	count := relay.ObserverFunc(func(_ context.Context, a relay.Attempt) {
		if a.Recorded && settled.Add(1) == int64(d.rows) {
			close(done)
		}
	})
	failures := make([]error, d.relays)
	var running sync.WaitGroup
	for i := range d.relays {
		r, err := relay.New(b.store, []delivery.Handler{d.delivers()}, relay.Config{
			BatchSize: d.batch, RunLength: d.batch, Prefetch: 3 * d.batch, OnPublished: d.after, Observers: []relay.Observer{count},
		})
		if err != nil {
			return err
		}
		running.Go(func() { failures[i] = r.Run(ctx) })
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(enough):
		failures = append(failures, fmt.Errorf("only %d of %d entries were settled in %v", settled.Load(), d.rows, enough))
	}
	if ctx.Err() != nil {
		failures = append(failures, context.Cause(ctx))
	}
	stop()
	running.Wait()
	return errors.Join(failures...)
}

// bareLoops claims and settles without a relay.
func (b *bench) bareLoops(ctx context.Context, d drain) error {
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	scope, err := claim.Resolve(claim.Capabilities{benchType: claim.All()})
	if err != nil {
		return err
	}
	failures := make([]error, d.relays)
	var settled atomic.Int64
	var running sync.WaitGroup
	for i := range d.relays {
		session := b.store.Open(relay.SessionOptions{Owner: "bare-" + strconv.Itoa(i), OnPublished: d.after})
		running.Go(func() {
			for failures[i] == nil && settled.Load() < int64(d.rows) {
				batch, err := session.Claim(ctx, relay.ClaimRequest{
					Limit: d.batch, RunLength: d.batch, Lease: time.Minute, Scope: scope, First: benchType,
				})
				if err == nil && len(batch.Records) > 0 {
					err = settleAll(ctx, session, batch)
					settled.Add(int64(len(batch.Records)))
				}
				failures[i] = err
			}
		})
	}
	running.Wait()
	return errors.Join(failures...)
}
