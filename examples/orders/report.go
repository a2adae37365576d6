package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// errUnreconciled says that a line of the report is off.
var errUnreconciled = errors.New("the tables do not reconcile")

// line is one line of the report.
type line struct {
	label string
	query string // gives one number
	// holds judges the number; nil for one that is only shown, with the rule as remark.
	holds func(count int64) bool
	rule  string
}

func zero(n int64) bool     { return n == 0 }
func positive(n int64) bool { return n > 0 }

// lines is the reconciliation for a kind of destination. It reads the business tables on
// both sides first, and satchel's own only for what is left in them.
func (k kind) lines() []line {
	list := []line{
		{"orders committed", `SELECT count(*) FROM orders`, positive, "> 0"},
		{"events committed", `SELECT count(*) FROM order_events`, positive, "> 0"},
		{"events applied", `SELECT count(*) FROM applied`, positive, "> 0"},
		{
			"events applied - events committed",
			`SELECT (SELECT count(*) FROM applied) - (SELECT count(*) FROM order_events)`, zero, "0",
		},
		{
			"committed but never applied",
			`SELECT count(*) FROM order_events e WHERE NOT EXISTS
				(SELECT FROM applied a WHERE (a.order_id, a.seq, a.destination) = (e.order_id, e.seq, e.destination))`, zero, "0",
		},
		{
			"applied but never committed",
			`SELECT count(*) FROM applied a WHERE NOT EXISTS
				(SELECT FROM order_events e WHERE (a.order_id, a.seq, a.destination) = (e.order_id, e.seq, e.destination))`, zero, "0",
		},
		{
			"applied more than once",
			`SELECT count(*) FROM (SELECT FROM applied GROUP BY order_id, seq HAVING count(*) > 1) twice`, zero, "0",
		},
		{"orders rolled back", `SELECT count(*) FROM rolled_back`, positive, "> 0"},
		{
			"rolled back but delivered",
			`SELECT count(*) FROM rolled_back WHERE order_id IN (SELECT order_id FROM applied)
				OR order_id IN (SELECT aggregate_id FROM outbox) OR order_id IN (SELECT payload->>'orderId' FROM outbox)`, zero, "0",
		},
		{
			"duplicates suppressed by " + k.droppedBy,
			`SELECT count(*) FROM duplicates WHERE dropped_by = '` + k.droppedBy + `'`, positive, "> 0, since a node was killed",
		},
	}
	order := line{"order violations", `SELECT count(*) FROM applied WHERE NOT in_order`, zero, "0"}
	if k.unordered != "" {
		order.holds, order.rule = nil, "not promised by this destination: "+k.unordered
	}
	return append(
		list, order,
		line{"dead letters", `SELECT count(*) FROM outbox WHERE dead_lettered_at IS NOT NULL`, zero, "0"},
		line{"undelivered", `SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_lettered_at IS NULL`, zero, "0"},
	)
}

// report prints the reconciliation, read in one snapshot, and returns errUnreconciled
// if any line is off.
func report(ctx context.Context, conn *pgx.Conn, k kind, out io.Writer) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	lines, off := k.lines(), 0
	_, _ = fmt.Fprintln(out, "reconciliation, read from the tables")
	for _, l := range lines {
		var count int64
		if err := tx.QueryRow(ctx, l.query).Scan(&count); err != nil {
			return fmt.Errorf("%s: %w", l.label, err)
		}
		verdict, rule := "ok", "expected "+l.rule
		switch {
		case l.holds == nil:
			verdict, rule = "-", l.rule
		case !l.holds(count):
			verdict = "OFF"
			off++
		}
		_, _ = fmt.Fprintf(out, "  %-36s %9d   %-3s  %s\n", l.label, count, verdict, rule)
	}
	if off > 0 {
		return fmt.Errorf("%w: %d of %d lines are off", errUnreconciled, off, len(lines))
	}
	conclusion := "every committed event was applied exactly once"
	if k.unordered == "" {
		conclusion += " and in order"
	}
	_, _ = fmt.Fprintln(out, conclusion)
	return nil
}
