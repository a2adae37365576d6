-- Deletes inbox markers recorded longer ago than an age, oldest first.
--   $1 bigint age in microseconds   $2 int markers at most
-- Result: none.   Index: idx_inbox_processed_at; rows are then found by their place.
DELETE FROM {inbox}
 WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {inbox}
         WHERE processed_at < clock_timestamp() - $1::bigint * interval '1 microsecond'
         ORDER BY processed_at
         LIMIT $2::int
           FOR UPDATE SKIP LOCKED))
