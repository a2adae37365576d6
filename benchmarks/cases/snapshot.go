package cases

import (
	"context"
	"strconv"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/core/relay"
)

var snapshotCase = Case{
	Name: "snapshot",
	About: "Entries per second of a drain while another session holds a snapshot open, so that nothing that is settled can be removed; " +
		"compared with the same drain without. Rounds alternate.",
	Run: runSnapshot,
}

func runSnapshot(ctx context.Context, e *Env) error {
	b, err := e.open(ctx, lab.V3, 8)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	for _, after := range []relay.OnPublished{relay.Keep, relay.Delete} {
		d := drain{after: after, relays: 2, batch: 500, rows: e.Scale.SnapshotRows}
		rates := map[bool]*sample.Set{false: {}, true: {}}
		for range e.Scale.DrainRound {
			for _, held := range []bool{false, true} {
				rate, err := b.drainHolding(ctx, d, held)
				if err != nil {
					return err
				}
				e.Logf("snapshot %s, held %v: %.0f/s", after, held, rate)
				rates[held].Add(rate)
			}
		}
		for _, held := range []bool{false, true} {
			e.Emit(report.Measurement{
				Case: "snapshot", Series: "satchel",
				Params: map[string]string{"mode": string(after), "held": strconv.FormatBool(held), "rows": strconv.Itoa(d.rows)},
				Values: map[string]float64{"rate": rates[held].Median()},
			})
		}
	}
	return nil
}

func (b *bench) drainHolding(ctx context.Context, d drain, held bool) (float64, error) {
	if held {
		release, err := lab.HoldSnapshot(ctx, b.URL)
		if err != nil {
			return 0, err
		}
		defer release()
	}
	rate, _, err := b.drain(ctx, d)
	return rate, err
}
