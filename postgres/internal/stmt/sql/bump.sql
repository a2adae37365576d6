-- Moves the first unsettled entry of aggregates to the tail of the due-ordered index, so that every relay looks at it: for
-- aggregates whose head was settled by something that is not a relay.
--   $1 text[] aggregate ids
-- Result: none.   Index: idx_outbox_aggregate, outbox_pkey.
UPDATE {outbox} o
   SET available_at = clock_timestamp(), updated_at = statement_timestamp()
 WHERE o.id = ANY (ARRAY(
        SELECT l.id
          FROM unnest($1::text[]) AS a (id)
         CROSS JOIN LATERAL (
                SELECT r.id FROM {outbox} r
                 WHERE r.aggregate_id >= a.id AND r.aggregate_id <= a.id AND r.published_at IS NULL AND r.dead_lettered_at IS NULL
                 ORDER BY r.aggregate_id, r.id
                 LIMIT 1) h
         CROSS JOIN LATERAL (
                SELECT r.id FROM {outbox} r
                 WHERE r.id = h.id AND r.state = 'PENDING' AND GREATEST(r.available_at, r.scheduled_at) <= clock_timestamp()
                   FOR NO KEY UPDATE SKIP LOCKED) l))
   AND o.state = 'PENDING'
