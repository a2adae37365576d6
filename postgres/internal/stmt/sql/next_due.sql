-- Finds when the next entry that is not due yet becomes due.
--   $1 text[] destination types
-- Result: microseconds from now, or NULL.   Index: idx_outbox_claim, one probe per type.
SELECT (extract(epoch FROM min(n.due) - clock_timestamp()) * 1000000)::bigint
  FROM unnest($1::text[]) AS t (type)
 CROSS JOIN LATERAL (
        SELECT GREATEST(o.available_at, o.scheduled_at) AS due
          FROM {outbox} o
         WHERE o.destination_type = t.type
           AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
           AND GREATEST(o.available_at, o.scheduled_at) > statement_timestamp()
         ORDER BY GREATEST(o.available_at, o.scheduled_at), o.id
         LIMIT 1) n
