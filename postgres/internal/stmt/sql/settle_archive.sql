-- Settles delivered entries: they move to the archive.
--   $1 bigint[] entry ids   $2 bigint[] the lease of each
-- Result: id and lease of those that were still held under it.   Index: outbox_pkey.
WITH gone AS (
    DELETE FROM {outbox} o
     USING unnest($1::bigint[], $2::bigint[]) AS s (id, lease)
     WHERE o.id = s.id AND o.lease_id = s.lease AND o.state = 'PROCESSING'
    RETURNING o.id, o.carrier_id, o.aggregate_type, o.aggregate_id, o.event_type, o.destination, o.destination_type, o.payload,
              o.payload_raw, o.content_type, o.headers, o.metadata, o.attempt, o.scheduled_at, o.created_at, s.lease
), kept AS (
    INSERT INTO {outbox_archive} (id, carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload,
                                  payload_raw, content_type, headers, metadata, attempt, scheduled_at, created_at, published_at)
    SELECT id, carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload, payload_raw, content_type,
           headers, metadata, attempt, scheduled_at, created_at, statement_timestamp()
      FROM gone
)
SELECT id, lease FROM gone
