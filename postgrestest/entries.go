package postgrestest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
)

// Querier is what pools, connections and transactions of pgx have in common.
type Querier interface {
	// Query is that of pgx.
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Entries is the table of entries as q sees it: over a pool the committed entries, over a
// transaction also what that transaction has published. schema is the one of the tables, ""
// for a [Database] of this package.
func Entries(q Querier, schema string) outboxtest.Source {
	table := pgx.Identifier{"outbox"}
	if schema != "" {
		table = pgx.Identifier{schema, "outbox"}
	}
	query := `SELECT id, carrier_id, coalesce(aggregate_type, ''), coalesce(aggregate_id, ''), event_type, destination,
    destination_type, payload::text, payload_raw, coalesce(content_type, ''), headers::text, metadata::text,
    max_attempts, available_at, scheduled_at, attempt, claims, created_at
FROM ` + table.Sanitize() + ` ORDER BY id`
	return outboxtest.SourceFunc(func(ctx context.Context) ([]outbox.Record, error) {
		rows, err := q.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, record)
	})
}

func record(row pgx.CollectableRow) (r outbox.Record, err error) {
	var id [16]byte
	var payload, headers, metadata *string
	var raw []byte
	var scheduled *time.Time
	err = row.Scan(&r.ID, &id, &r.AggregateType, &r.AggregateID, &r.EventType, &r.Destination, &r.DestinationType,
		&payload, &raw, &r.ContentType, &headers, &metadata, &r.MaxAttempts, &r.AvailableAt, &scheduled,
		&r.Attempt, &r.Claims, &r.CreatedAt)
	r.MessageID, r.Payload = id, raw
	if payload != nil {
		r.Payload = []byte(*payload)
	}
	if headers != nil {
		r.Headers = []byte(*headers)
	}
	if metadata != nil {
		r.Metadata = []byte(*metadata)
	}
	if scheduled != nil {
		r.ScheduledAt = *scheduled
	}
	return r, err
}
