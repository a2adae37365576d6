-- Deletes entries dead-lettered longer ago than an age, oldest first.
--   $1 bigint age in microseconds   $2 int entries at most
-- Result: none.   Index: idx_outbox_dead_letter, outbox_pkey.
DELETE FROM {outbox}
 WHERE id = ANY (ARRAY(
        SELECT id FROM {outbox}
         WHERE dead_lettered_at < clock_timestamp() - $1::bigint * interval '1 microsecond' AND dead_lettered_at IS NOT NULL
         ORDER BY dead_lettered_at
         LIMIT $2::int
           FOR UPDATE SKIP LOCKED))
   AND state = 'DEAD_LETTER'
