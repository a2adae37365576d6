-- Inserts one entry; see insert.sql for the parameters, which are single values here.
-- Result: its id.
INSERT INTO {outbox} (carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, payload_raw,
                      content_type, headers, metadata, max_attempts, available_at, scheduled_at, created_at, updated_at)
VALUES ($1::text::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text::jsonb, decode($8::text, 'hex'), $9::text,
        $10::text::jsonb, $11::text::jsonb, $12::int, GREATEST(clock_timestamp(), $13::text::timestamptz), $14::text::timestamptz,
        clock_timestamp(), clock_timestamp())
RETURNING id
