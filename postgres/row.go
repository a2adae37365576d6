package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// row receives the columns of a claimed entry; it is used for one row after another.
type row struct {
	meta                                    []byte
	id                                      pgtype.Int8
	carrier                                 pgtype.UUID
	aggregateType, aggregateID              repeated
	eventType, destination, destinationType repeated
	payload, raw                            []byte
	contentType                             repeated
	headers, metadata                       []byte
	attempt, maxAttempts, claims            pgtype.Int4
	availableAt, scheduledAt, createdAt     pgtype.Timestamptz
	columns                                 []any
}

func newRow() *row {
	r := &row{}
	r.columns = []any{
		&r.meta, &r.id, &r.carrier, &r.aggregateType, &r.aggregateID, &r.eventType, &r.destination, &r.destinationType,
		&r.payload, &r.raw, &r.contentType, &r.headers, &r.metadata, &r.attempt, &r.maxAttempts, &r.claims,
		&r.availableAt, &r.scheduledAt, &r.createdAt,
	}
	return r
}

// targets returns where to scan the next row to. Byte slices are the driver's copies,
// made anew for each row.
func (r *row) targets() []any { return r.columns }

// record copies the row. An infinite time, which only raw SQL can have stored, is the
// zero time here: the statement has compared it already.
func (r *row) record() outbox.Record {
	rec := outbox.Record{
		ID: outbox.ID(r.id.Int64), MessageID: r.carrier.Bytes,
		AggregateType: r.aggregateType.text, AggregateID: r.aggregateID.text,
		EventType: r.eventType.text, Destination: r.destination.text,
		DestinationType: destination.Type(r.destinationType.text),
		Payload:         r.payload, ContentType: r.contentType.text,
		Headers: r.headers, Metadata: r.metadata,
		Attempt: int(r.attempt.Int32), MaxAttempts: int(r.maxAttempts.Int32), Claims: int(r.claims.Int32),
		AvailableAt: r.availableAt.Time, ScheduledAt: r.scheduledAt.Time, CreatedAt: r.createdAt.Time,
	}
	if r.payload == nil {
		rec.Payload = r.raw
		if rec.ContentType == "" {
			rec.ContentType = "application/octet-stream" // written by raw SQL
		}
	}
	return rec
}

// repeated receives a text, "" for NULL, that is often the same as in the row before:
// then both share it.
type repeated struct{ text string }

// ScanBytes implements pgtype.BytesScanner.
func (r *repeated) ScanBytes(b []byte) error {
	if string(b) != r.text {
		r.text = string(b)
	}
	return nil
}

// eachID reads rows of one id.
func eachID(rows pgx.Rows, each func(id int64)) error {
	defer rows.Close()
	var id int64
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return err
		}
		each(id)
	}
	return rows.Err()
}

// eachSettled reads the rows of a statement that settles entries.
func eachSettled(rows pgx.Rows, each func(id, lease int64)) error {
	defer rows.Close()
	var id, lease int64
	for rows.Next() {
		if err := rows.Scan(&id, &lease); err != nil {
			return err
		}
		each(id, lease)
	}
	return rows.Err()
}
