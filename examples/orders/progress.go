package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// progress is where the demonstration stands.
type progress struct {
	committed, delivered, applied, backlog int64
	// inTransit messages are delivered and not yet through the broker or queue.
	inTransit int64
}

// readProgress counts rows and messages; each process does its work without telling anybody.
func readProgress(ctx context.Context, conn *pgx.Conn, s stage) (p progress, err error) {
	const query = `SELECT (SELECT count(*) FROM order_events),
		count(*) FILTER (WHERE published_at IS NOT NULL),
		(SELECT count(*) FROM applied),
		count(*) FILTER (WHERE published_at IS NULL AND dead_lettered_at IS NULL)
		FROM outbox`
	if err = conn.QueryRow(ctx, query).Scan(&p.committed, &p.delivered, &p.applied, &p.backlog); err != nil {
		return p, err
	}
	// In this order: what leaves the backlog in between is counted twice and not missed.
	p.inTransit, err = s.inTransit(ctx)
	return p, err
}

func (p progress) String() string {
	return fmt.Sprintf("committed %6d   backlog %6d   delivered %6d   in transit %6d   applied %6d",
		p.committed, p.backlog, p.delivered, p.inTransit, p.applied)
}
