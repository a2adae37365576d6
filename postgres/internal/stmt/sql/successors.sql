-- Tells which aggregates have an unsettled row. It must run after the settlement of others has committed: a row that its snapshot
-- does not see is committed later, and whoever sees that one sees it unblocked.
--   $1 text[] aggregates
-- Result: those of them that have one.   Index: idx_outbox_aggregate.
SELECT a.id
  FROM unnest($1::text[]) AS a (id)
 WHERE (SELECT o.id
          FROM {outbox} o
         WHERE o.aggregate_id >= a.id AND o.aggregate_id <= a.id
           AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
         ORDER BY o.aggregate_id, o.id
         LIMIT 1) IS NOT NULL
