-- Repairs what no statement of this version leaves behind, in a window of the unsettled entries: an entry in process without a
-- lease becomes pending, a finished entry without its finishing time gets one.
--   $1 text, $2 text, $3 bigint   type, due time and id after which the window begins   $4 int window
-- Result: entries looked at, entries repaired, and type, due time in microseconds and id of the last one looked at.
-- Index: idx_outbox_claim in its whole order, outbox_pkey for the repair.
WITH seen AS MATERIALIZED (
    SELECT o.id, o.destination_type, GREATEST(o.available_at, o.scheduled_at) AS due, o.state, o.lease_id
      FROM {outbox} o
     WHERE o.published_at IS NULL AND o.dead_lettered_at IS NULL
       AND (o.destination_type, GREATEST(o.available_at, o.scheduled_at), o.id) > ($1::text, $2::text::timestamptz, $3::bigint)
     ORDER BY o.destination_type, GREATEST(o.available_at, o.scheduled_at), o.id
     LIMIT $4::int
), broken AS MATERIALIZED (
    SELECT l.id
      FROM seen s
     CROSS JOIN LATERAL (
            SELECT r.id FROM {outbox} r
             WHERE r.id = s.id AND r.state = s.state AND r.lease_id IS NOT DISTINCT FROM s.lease_id
               FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE s.state IN ('PUBLISHED', 'DEAD_LETTER')
        OR s.state = 'PROCESSING' AND NOT EXISTS (SELECT FROM {outbox_lease} e WHERE e.id = s.lease_id)
), repaired AS (
    UPDATE {outbox} o
       SET state            = CASE WHEN o.state = 'PROCESSING' THEN 'PENDING' ELSE o.state END,
           available_at     = CASE WHEN o.state = 'PROCESSING' THEN clock_timestamp() ELSE o.available_at END,
           published_at     = CASE WHEN o.state = 'PUBLISHED' THEN o.updated_at END,
           dead_lettered_at = CASE WHEN o.state = 'DEAD_LETTER' THEN o.updated_at END,
           claimed_at = NULL, claimed_by = NULL, lease_id = NULL, updated_at = statement_timestamp()
     WHERE o.id = ANY (ARRAY(SELECT id FROM broken))
    RETURNING o.aggregate_id, o.state
), last AS (
    SELECT destination_type, due, id FROM seen ORDER BY destination_type DESC, due DESC, id DESC LIMIT 1
)
SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM repaired), (SELECT destination_type FROM last),
       (SELECT (extract(epoch FROM due) * 1000000)::bigint FROM last), (SELECT id FROM last),
       (SELECT COALESCE(array_agg(DISTINCT aggregate_id::text), '{}') FROM repaired WHERE aggregate_id IS NOT NULL AND state <> 'PENDING')
