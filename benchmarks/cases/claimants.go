package cases

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
)

func replaceN(text string, n int) string { return strings.ReplaceAll(text, "{n}", strconv.Itoa(n)) }

// claimant is a way to claim.
type claimant struct {
	name    string
	version int // of the schema
	// flat says that its time is meant not to grow with the backlog.
	flat bool
	open func(b *bench, s shape) claiming
}

// claiming is a claimant at work.
type claiming interface {
	// claim claims up to limit rows and returns their ids; more says that it has not yet
	// looked at everything that is due.
	claim(ctx context.Context, limit int) (ids []int64, more bool, err error)
	// finish removes what was claimed last.
	finish(ctx context.Context, ids []int64) error
}

var claimants = []claimant{
	{name: "satchel", version: lab.V3, flat: true, open: openSatchel},
	{name: "type-first, full scan", version: lab.V3, open: openStatement(typeFirst)},
	{name: "schema 1", version: lab.V1, open: openStatement(schemaOne)},
}

// satchel claims through a session of the store.
type satchel struct {
	session relay.Session
	scope   claim.Scope
	batch   relay.Batch
}

func openSatchel(b *bench, s shape) claiming {
	c := &satchel{
		session: b.store.Open(relay.SessionOptions{Owner: "bench", OnPublished: relay.Delete}),
		scope:   claim.All(),
	}
	if s.targets != nil {
		c.scope = claim.Targets(func() []string { return s.targets })
	}
	return c
}

func (c *satchel) claim(ctx context.Context, limit int) (ids []int64, more bool, err error) {
	const t = destination.Type("KAFKA")
	scope, err := claim.Resolve(claim.Capabilities{t: c.scope})
	if err != nil {
		return nil, false, err
	}
	c.batch, err = c.session.Claim(ctx, relay.ClaimRequest{
		Limit: limit, RunLength: limit, Lease: time.Hour, Scope: scope, First: t,
	})
	for i := range c.batch.Records {
		ids = append(ids, int64(c.batch.Records[i].ID))
	}
	return ids, c.batch.More, err
}

func (c *satchel) finish(ctx context.Context, _ []int64) error {
	return settleAll(ctx, c.session, c.batch)
}

// settleAll records a batch as delivered and ends its lease.
func settleAll(ctx context.Context, session relay.Session, batch relay.Batch) error {
	outcomes := make([]relay.Outcome, len(batch.Records))
	for i := range batch.Records {
		r := &batch.Records[i]
		outcomes[i] = relay.Outcome{ID: r.ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: r.AggregateID}
	}
	_, err := session.Settle(ctx, outcomes, []relay.LeaseID{batch.Lease})
	return err
}

// schemaOne is the claim that schema version 1 was made for: pending rows in the order
// of their availability, of each aggregate only its first unfinished row.
const schemaOne = `
	UPDATE outbox SET state = 'PROCESSING', claimed_at = now(), claimed_by = 'bench', updated_at = now()
	 WHERE id IN (
	       SELECT o.id FROM outbox o
	        WHERE o.state = 'PENDING' AND o.available_at <= now() AND (o.scheduled_at IS NULL OR o.scheduled_at <= now())
	          AND o.destination_type = 'KAFKA' AND ($2::text[] IS NULL OR o.destination = ANY ($2))
	          AND (o.aggregate_id IS NULL OR o.id = (
	               SELECT MIN(p.id) FROM outbox p
	                WHERE p.aggregate_id = o.aggregate_id AND p.state IN ('PENDING', 'PROCESSING')))
	        ORDER BY o.available_at, o.id
	        LIMIT $1
	          FOR UPDATE SKIP LOCKED)
	RETURNING id, carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, headers,
	          metadata, attempt, max_attempts, available_at, scheduled_at, created_at`

// typeFirst uses the due-ordered index of the present schema, and reads it from the
// start in every claim.
const typeFirst = `
	UPDATE outbox SET state = 'PROCESSING', claimed_at = now(), claimed_by = 'bench', claims = claims + 1, updated_at = now()
	 WHERE id = ANY (ARRAY(
	       SELECT o.id FROM outbox o
	        WHERE o.destination_type = 'KAFKA' AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
	          AND GREATEST(o.available_at, o.scheduled_at) <= now() AND o.state = 'PENDING'
	          AND ($2::text[] IS NULL OR o.destination = ANY ($2))
	          AND (o.aggregate_id IS NULL OR NOT EXISTS (
	               SELECT FROM outbox p
	                WHERE p.aggregate_id = o.aggregate_id AND p.id < o.id
	                  AND p.published_at IS NULL AND p.dead_lettered_at IS NULL))
	        ORDER BY GREATEST(o.available_at, o.scheduled_at), o.id
	        LIMIT $1
	          FOR NO KEY UPDATE SKIP LOCKED))
	RETURNING id, carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, headers,
	          metadata, attempt, max_attempts, available_at, scheduled_at, created_at`

// statement claims by one statement of SQL.
type statement struct {
	pool    *pgxpool.Pool
	text    string
	targets []string
}

func openStatement(text string) func(b *bench, s shape) claiming {
	return func(b *bench, s shape) claiming { return &statement{b.pool, text, s.targets} }
}

// claim reads the rows whole, as a relay must.
func (c *statement) claim(ctx context.Context, limit int) (ids []int64, more bool, err error) {
	rows, err := c.pool.Query(ctx, c.text, limit, c.targets)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var row [][]byte
		for _, v := range rows.RawValues() {
			row = append(row, bytes.Clone(v))
		}
		ids = append(ids, int64(binary.BigEndian.Uint64(row[0])))
	}
	return ids, false, rows.Err()
}

func (c *statement) finish(ctx context.Context, ids []int64) error {
	_, err := c.pool.Exec(ctx, "DELETE FROM outbox WHERE id = ANY ($1)", ids)
	return err
}
