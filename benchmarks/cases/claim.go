package cases

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/satchel-go/satchel/benchmarks/internal/sample"
	"github.com/satchel-go/satchel/benchmarks/report"
)

var claimCase = Case{
	Name: "claim",
	About: "Time of one claim of 50 with rows in the way, as the client sees it. The cold pass is what a relay that has just started " +
		"needs until its first 50 rows; after it, 50 new rows are inserted and 50 claimed, again and again, and the claimed ones deleted. " +
		"What is in the way: " + shapesInWords() + ".",
	Run: runClaim,
}

func shapesInWords() string {
	var list []string
	for _, s := range shapes {
		list = append(list, s.name+", "+s.about)
	}
	return strings.Join(list, "; ")
}

const claimLimit = 50

func runClaim(ctx context.Context, e *Env) error {
	for _, n := range e.Scale.Backlogs {
		for _, version := range claimVersions(e, n) {
			b, err := e.open(ctx, version, 2)
			if err != nil {
				return err
			}
			for _, s := range shapes {
				if err = b.claims(ctx, e, s, n, version); err != nil {
					err = fmt.Errorf("%s with %d rows: %w", s.name, n, err)
					break
				}
			}
			b.close(ctx)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// claimVersions returns the versions of the schema that are measured at a size.
func claimVersions(e *Env, n int) (versions []int) {
	seen := map[int]bool{}
	for _, c := range claimants {
		if !seen[c.version] && (c.flat || n <= e.Scale.SlowBacklog) {
			seen[c.version] = true
			versions = append(versions, c.version)
		}
	}
	return versions
}

// claims measures every claimant of a version on one shape.
func (b *bench) claims(ctx context.Context, e *Env, s shape, n, version int) error {
	began := time.Now()
	release, err := b.build(ctx, s, n, version)
	defer release()
	if err != nil {
		return err
	}
	e.Logf("claim %s %d: built in %v", s.name, n, time.Since(began).Round(time.Millisecond))
	for _, c := range claimants {
		if c.version != version || !c.flat && n > e.Scale.SlowBacklog {
			continue
		}
		m := report.Measurement{
			Case: "claim", Series: c.name, Params: map[string]string{"shape": s.name, "backlog": strconv.Itoa(n)},
			Values: map[string]float64{},
		}
		if err := b.timeClaims(ctx, e, c, s, m.Values); err != nil {
			return err
		}
		e.Emit(m)
	}
	return nil
}

// timeClaims measures one claimant on the shape that is there, and leaves as many
// claimable rows as it found.
func (b *bench) timeClaims(ctx context.Context, e *Env, c claimant, s shape, values map[string]float64) error {
	work := c.open(b, s)
	var cold, warm sample.Set
	for done := false; !done; {
		began := time.Now()
		ids, more, err := capped(ctx, e, work)
		cold.AddDuration(time.Since(began))
		if err != nil {
			return err
		}
		if len(ids) == 0 && !more && cold.Max() > sample.Milliseconds(e.Scale.ClaimCap) {
			values["median_ms"], values["timed_out"] = cold.Max(), 1
			return nil // too slow to be measured again and again
		}
		if err := b.replace(ctx, work, ids); err != nil {
			return err
		}
		done = len(ids) > 0 || !more
	}
	values["cold_ms"], values["cold_max_ms"], values["cold_claims"] = cold.Sum(), cold.Max(), float64(cold.Len())
	warmup := e.Scale.ClaimRounds / 4
	began := time.Now()
	for round := 0; round < warmup+e.Scale.ClaimRounds; round++ {
		start := time.Now()
		ids, _, err := capped(ctx, e, work)
		took := time.Since(start)
		if err != nil {
			return err
		}
		if len(ids) != claimLimit {
			return fmt.Errorf("%s claimed %d rows instead of %d", c.name, len(ids), claimLimit)
		}
		if round >= warmup || !c.flat && time.Since(began) > e.Scale.SlowBudget/2 {
			warm.AddDuration(took)
		}
		if err := b.replace(ctx, work, ids); err != nil {
			return err
		}
		if time.Since(began) > e.Scale.SlowBudget && warm.Len() >= 3 && !c.flat {
			break
		}
	}
	values["median_ms"], values["p99_ms"], values["claims"] = warm.Median(), warm.Quantile(0.99), float64(warm.Len())
	return nil
}

// capped claims, and gives up after the scale's limit.
func capped(ctx context.Context, e *Env, work claiming) ([]int64, bool, error) {
	limited, cancel := context.WithTimeout(ctx, e.Scale.ClaimCap)
	defer cancel()
	ids, more, err := work.claim(limited, claimLimit)
	if err != nil && ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err)) {
		return nil, false, nil
	}
	return ids, more, err
}

// replace finishes claimed rows and inserts as many new ones.
func (b *bench) replace(ctx context.Context, work claiming, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if err := work.finish(ctx, ids); err != nil {
		return err
	}
	return b.exec(ctx, fmt.Sprintf(insertShape, claimable, len(ids)))
}
