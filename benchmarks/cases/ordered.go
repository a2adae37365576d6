package cases

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var orderedCase = Case{
	Name:  "ordered",
	About: "Entries per second of one aggregate that holds the whole backlog, delivered in order; two relays compete for it. Any disorder fails the run.",
	Run:   runOrdered,
}

func runOrdered(ctx context.Context, e *Env) error {
	const relays, batch = 2, 1000
	b, err := e.open(ctx, lab.V3, 4*relays)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	for _, after := range []relay.OnPublished{relay.Keep, relay.Delete} {
		var rates sample.Set
		var last, disorder atomic.Int64
		d := drain{after: after, relays: relays, batch: batch, ordered: true, rows: e.Scale.OrderedRows, check: func(en delivery.Envelope) {
			if before := last.Swap(int64(en.ID)); outbox.ID(before+1) != en.ID {
				disorder.Add(1)
			}
		}}
		for range e.Scale.DrainRound {
			last.Store(0)
			rate, _, err := b.drain(ctx, d)
			if err != nil {
				return err
			}
			if n := disorder.Load(); n > 0 {
				return fmt.Errorf("%d entries of one aggregate were delivered out of order", n)
			}
			rates.Add(rate)
		}
		e.Emit(report.Measurement{Case: "ordered", Series: "satchel", Params: d.params(), Values: map[string]float64{"rate": rates.Median()}})
		e.Logf("ordered %s: %.0f/s", after, rates.Median())
	}
	return nil
}
