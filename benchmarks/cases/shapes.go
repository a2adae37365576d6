package cases

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
)

// shape is a kind of backlog that is in the way of a claim: n rows that the claiming
// node must pass, and then claimable ones, all younger.
type shape struct {
	name  string
	about string
	// rows are the values of the n rows, over the number i from 1 to n; columns as in
	// shapeColumns.
	rows string
	// published makes all n rows delivered ones that vacuum cannot remove.
	published bool
	// targets are the destinations that the node hosts; nil means all of the type.
	targets []string
}

// The columns that shapes fill. Each row gets a payload of about 120 bytes besides.
const shapeColumns = `aggregate_id, destination_type, destination, available_at, scheduled_at, state, claimed_by, claimed_at, attempt`

// old is the due time of the i-th row: all of them before every claimable row.
const old = `now() - interval '2 hours' + i * interval '0.3 ms'`

var shapes = []shape{
	{name: "S0", about: "nothing in the way, whatever the size: what the others are compared with"},
	{
		name: "S1", about: "rows of 90 types that this node does not serve",
		rows: `'a' || i, 'TYPE' || i % 90, 'orders', ` + old + `, NULL, 'PENDING', NULL, NULL, 0`,
	},
	{
		name: "S2", about: "rows scheduled for next week",
		rows: `'a' || i, 'KAFKA', 'orders', ` + old + `, now() + interval '7 days', 'PENDING', NULL, NULL, 0`,
	},
	{
		name: "S3", about: "one aggregate whose head is in flight on another node",
		rows: `'hot', 'KAFKA', 'orders', ` + old + `, NULL, CASE i WHEN 1 THEN 'PROCESSING' ELSE 'PENDING' END,
		       CASE i WHEN 1 THEN 'another-node' END, CASE i WHEN 1 THEN now() END, 0`,
	},
	{
		name: "S4", about: "aggregates of ten rows, each behind a head of a type that nobody here serves",
		rows: `'a' || i % greatest({n} / 10, 1), CASE WHEN i <= {n} / 10 THEN 'MISSING' ELSE 'KAFKA' END, 'orders', ` + old + `,
		       NULL, 'PENDING', NULL, NULL, 0`,
	},
	{
		name: "S5", about: "rows of this type for 100 destinations that this node does not host", targets: []string{"mine"},
		rows: `'a' || i, 'KAFKA', 'svc.' || i % 100, ` + old + `, NULL, 'PENDING', NULL, NULL, 0`,
	},
	{
		name: "S6", about: "heads that wait out a retry backoff",
		rows: `'a' || i, 'KAFKA', 'orders', now() + interval '1 hour' + i * interval '0.3 ms', NULL, 'PENDING', NULL, NULL, 3`,
	},
	{
		name: "S7", about: "delivered rows that vacuum cannot remove, since a snapshot is held open", published: true,
		rows: `'a' || i, 'KAFKA', 'orders', ` + old + `, NULL, 'PENDING', NULL, NULL, 0`,
	},
}

// messageID makes ids that begin with the time, as the library's do: random ones would
// spread over their index and cost more than they really do.
const messageID = `(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7000a' || lpad(to_hex((random() * 1e18)::bigint), 15, '0'))::uuid`

// shapeValues are those of the other columns.
const shapeValues = messageID + `, 'Order', 'e', jsonb_build_object('n', i, 'pad', repeat('x', 100))`

const insertShape = `INSERT INTO outbox (carrier_id, aggregate_type, event_type, payload, ` + shapeColumns + `)
	SELECT ` + shapeValues + `, %s FROM generate_series(1, %d) i`

// load inserts n rows; their ids are those that one connection would have given.
func (b *bench) load(ctx context.Context, rows string, n int) error {
	err := b.both(ctx, n, func(from, to int) string {
		return fmt.Sprintf(`INSERT INTO outbox (id, carrier_id, aggregate_type, event_type, payload, `+shapeColumns+`)
			SELECT i, `+shapeValues+`, %s FROM generate_series(%d, %d) i`, rows, from, to)
	})
	if err != nil {
		return err
	}
	return b.exec(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('outbox', 'id'), %d)", n))
}

// both runs a statement for either half of the ids up to n, on two connections: it is
// the processor that these take long for.
func (b *bench) both(ctx context.Context, n int, statement func(from, to int) string) error {
	var running sync.WaitGroup
	var failures [2]error
	for half, from := range []int{1, n/2 + 1} {
		running.Go(func() {
			_, failures[half] = b.pool.Exec(ctx, statement(from, n/2+half*(n-n/2)))
		})
	}
	running.Wait()
	return errors.Join(failures[:]...)
}

// claimable are rows that every shape ends with, and that replace claimed ones.
const claimable = `'b' || i || '-' || clock_timestamp(), 'KAFKA', 'mine', clock_timestamp(), NULL, 'PENDING', NULL, NULL, 0`

// reserve is the number of claimable rows that are there before each claim.
const reserve = 1000

// build fills the outbox with a shape of n rows. release lets go of what the shape
// holds, a snapshot, and is never nil.
func (b *bench) build(ctx context.Context, s shape, n, version int) (release func(), err error) {
	release = func() {}
	rows := replaceN(s.rows, n)
	err = lab.Load(ctx, b.conn, func(ctx context.Context) error {
		if rows == "" {
			return nil
		}
		return b.load(ctx, rows, n)
	})
	if err != nil {
		return release, err
	}
	if s.name == "S3" && version >= lab.V2 {
		err = b.exec(ctx, "TRUNCATE outbox_lease", `WITH l AS (
			INSERT INTO outbox_lease (owner, expires_at, entry_ids)
			SELECT 'another-node', now() + interval '1 day', array_agg(id) FROM outbox WHERE state = 'PROCESSING' RETURNING id)
			UPDATE outbox SET lease_id = l.id, claims = 1 FROM l WHERE state = 'PROCESSING'`)
	}
	if err == nil && s.published {
		if release, err = lab.HoldSnapshot(ctx, b.URL); err != nil {
			return func() {}, err
		}
		err = b.both(ctx, n, func(from, to int) string {
			return fmt.Sprintf("UPDATE outbox SET state = 'PUBLISHED', published_at = now(), updated_at = now() WHERE id BETWEEN %d AND %d", from, to)
		})
	}
	if err == nil {
		err = b.exec(ctx, fmt.Sprintf(insertShape, claimable, reserve), "VACUUM ANALYZE outbox")
	}
	return release, err
}
