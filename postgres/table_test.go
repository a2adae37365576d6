package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// table is the storetest.Table of the tables in a schema.
type table struct {
	pool   *pgxpool.Pool
	prefix string
}

// newTable looks at the tables of a schema, or at those of the search_path.
func newTable(pool *pgxpool.Pool, schema string) table {
	if schema == "" {
		return table{pool: pool}
	}
	return table{pool: pool, prefix: pgx.Identifier{schema}.Sanitize() + "."}
}

// Rows implements storetest.Table.
func (t table) Rows(ctx context.Context) ([]storetest.Row, error) {
	const columns = `id, carrier_id, coalesce(aggregate_type, ''), coalesce(aggregate_id, ''), event_type, destination, destination_type,
		coalesce(convert_to(payload::text, 'UTF8'), payload_raw), coalesce(content_type, ''), headers, metadata, attempt, scheduled_at, created_at, published_at`
	rows, err := t.pool.Query(ctx, fmt.Sprintf(`SELECT %s, max_attempts, claims, available_at, state, coalesce(lease_id, 0), dead_lettered_at,
			coalesce(last_error, ''), coalesce(error_type, ''), false FROM %soutbox
		UNION ALL SELECT %s, 0, 0, NULL, 'PUBLISHED', 0, NULL, '', '', true FROM %soutbox_archive`, columns, t.prefix, columns, t.prefix))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r storetest.Row, err error) {
		var carrier pgtype.UUID
		var kind, state string
		var scheduled, published, available, dead pgtype.Timestamptz
		err = row.Scan(&r.ID, &carrier, &r.AggregateType, &r.AggregateID, &r.EventType, &r.Destination, &kind,
			&r.Payload, &r.ContentType, (*[]byte)(&r.Headers), (*[]byte)(&r.Metadata), &r.Attempt, &scheduled, &r.CreatedAt, &published,
			&r.MaxAttempts, &r.Claims, &available, &state, &r.Lease, &dead, &r.LastError, &r.ErrorType, &r.Archived)
		r.MessageID, r.DestinationType, r.State = carrier.Bytes, destination.Type(kind), outbox.State(state)
		r.ScheduledAt, r.PublishedAt, r.AvailableAt, r.DeadLetteredAt = scheduled.Time, published.Time, available.Time, dead.Time
		return r, err
	})
}

// Age implements storetest.Table.
func (t table) Age(ctx context.Context, by time.Duration, ids ...outbox.ID) error {
	_, err := t.pool.Exec(ctx, `UPDATE `+t.prefix+`outbox SET available_at = available_at - $1::interval, scheduled_at = scheduled_at - $1::interval,
		created_at = created_at - $1::interval, updated_at = updated_at - $1::interval, claimed_at = claimed_at - $1::interval,
		published_at = published_at - $1::interval, dead_lettered_at = dead_lettered_at - $1::interval WHERE id = ANY ($2::bigint[])`, by, int64s(ids))
	return err
}

// AgeLeases implements storetest.Table.
func (t table) AgeLeases(ctx context.Context, by time.Duration, leases ...relay.LeaseID) error {
	_, err := t.pool.Exec(ctx, `UPDATE `+t.prefix+`outbox_lease SET expires_at = expires_at - $1::interval WHERE id = ANY ($2::bigint[])`, by, int64s(leases))
	return err
}

// AgeInbox implements storetest.Table.
func (t table) AgeInbox(ctx context.Context, by time.Duration) error {
	_, err := t.pool.Exec(ctx, `UPDATE `+t.prefix+`inbox SET processed_at = processed_at - $1::interval`, by)
	return err
}

// Break implements storetest.Table.
func (t table) Break(ctx context.Context, id outbox.ID, how storetest.Damage) error {
	state := map[storetest.Damage]string{
		storetest.LoseLease: "PROCESSING", storetest.UnmarkedPublished: "PUBLISHED", storetest.UnmarkedDeadLetter: "DEAD_LETTER",
	}[how]
	_, err := t.pool.Exec(ctx, `UPDATE `+t.prefix+`outbox SET state = $1, lease_id = NULL WHERE id = $2`, state, int64(id))
	return err
}

// relays returns the owners in the registry.
func (t table) relays(ctx context.Context) ([]string, error) {
	rows, err := t.pool.Query(ctx, `SELECT owner FROM `+t.prefix+`outbox_relay`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func int64s[T ~int64](list []T) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}
