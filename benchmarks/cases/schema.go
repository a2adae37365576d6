package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/report"
)

var schemaCase = Case{
	Name: "schema",
	About: "The price of each schema version's indexes on one connection: rows inserted in statements of 100 without a trigger, then claimed and " +
		"settled as published in statements of 500, with the write-ahead log and the space that each row costs.",
	Run: runSchema,
}

// The updates of a claim and a settlement, by version.
var updates = map[int]struct{ claim, settle string }{
	lab.V1: {
		"UPDATE outbox SET state = 'PROCESSING', claimed_at = now(), claimed_by = 'bench', updated_at = now() WHERE id BETWEEN $1 AND $2",
		"UPDATE outbox SET state = 'PUBLISHED', published_at = now(), updated_at = now() WHERE id BETWEEN $1 AND $2",
	},
	lab.V2: {claimHOT, settleHOT},
	lab.V3: {claimHOT, settleHOT},
}

const (
	claimHOT = `UPDATE outbox SET state = 'PROCESSING', claimed_at = now(), claimed_by = 'bench', updated_at = now(), claims = claims + 1,
		lease_id = 1 WHERE id BETWEEN $1 AND $2`
	settleHOT = `UPDATE outbox SET state = 'PUBLISHED', published_at = now(), updated_at = now(), claims = 0, lease_id = NULL
		WHERE id BETWEEN $1 AND $2`
)

func runSchema(ctx context.Context, e *Env) error {
	for version := lab.V1; version <= lab.V3; version++ {
		b, err := e.open(ctx, version, 1)
		if err != nil {
			return err
		}
		err = b.writes(ctx, e, version)
		b.close(ctx)
		if err != nil {
			return fmt.Errorf("schema version %d: %w", version, err)
		}
	}
	return nil
}

func (b *bench) writes(ctx context.Context, e *Env, version int) error {
	rows := e.Scale.SchemaRows
	if err := b.exec(ctx, "ALTER TABLE outbox DISABLE TRIGGER USER"); err != nil {
		return err
	}
	row := `'a' || $1::int + i, 'KAFKA', 'orders', clock_timestamp(), NULL, 'PENDING', NULL, NULL, 0`
	insert := fmt.Sprintf(insertShape, row, 100)
	for _, step := range []struct {
		name  string
		size  int
		write func(first, last int) error
	}{
		{"insert", 100, func(first, _ int) error { _, err := b.conn.Exec(ctx, insert, first); return err }},
		{"claim", 500, func(first, last int) error {
			_, err := b.conn.Exec(ctx, updates[version].claim, first, last)
			return err
		}},
		{"settle", 500, func(first, last int) error {
			_, err := b.conn.Exec(ctx, updates[version].settle, first, last)
			return err
		}},
	} {
		if err := lab.Checkpoint(ctx, b.conn); err != nil {
			return err
		}
		before, err := lab.ReadCounters(ctx, b.conn)
		if err != nil {
			return err
		}
		began := time.Now()
		for first := 1; first <= rows; first += step.size {
			if err := step.write(first, first+step.size-1); err != nil {
				return err
			}
		}
		took := time.Since(began)
		after, err := lab.ReadCounters(ctx, b.conn)
		if err != nil {
			return err
		}
		per := func(n int64) float64 { return float64(n) / float64(rows) }
		m := report.Measurement{
			Case: "schema", Series: fmt.Sprintf("version %d", version), Params: map[string]string{"step": step.name},
			Values: map[string]float64{
				"rate": float64(rows) / took.Seconds(), "wal_bytes": per(after.WAL - before.WAL),
				"heap_bytes": per(after.Heap), "index_bytes": per(after.Indexes), "hot_share": per(after.HOT - before.HOT),
			},
		}
		e.Emit(m)
		e.Logf("schema %d %s: %.0f rows/s, %.0f B of WAL per row", version, step.name, m.Values["rate"], m.Values["wal_bytes"])
	}
	return nil
}
