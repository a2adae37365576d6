-- Deletes entries published longer ago than an age, oldest first.
--   $1 bigint age in microseconds   $2 int entries at most
-- Result: none.   Index: idx_outbox_published, outbox_pkey.
DELETE FROM {outbox}
 WHERE id = ANY (ARRAY(
        SELECT id FROM {outbox}
         WHERE published_at < clock_timestamp() - $1::bigint * interval '1 microsecond' AND published_at IS NOT NULL
         ORDER BY published_at
         LIMIT $2::int
           FOR UPDATE SKIP LOCKED))
   AND state = 'PUBLISHED'
