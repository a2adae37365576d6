-- Settles entries that were not delivered.
--   $1 bigint[] entry ids   $2 bigint[] the lease of each
--   $3 int[]    2 retried, 3 dead-lettered, 4 deferred, 5 released, 6 released behind another (see relay.OutcomeKind)
--   $4 bigint[] delay in microseconds   $5 text[] error   $6 text[] type of the error
-- Result: id and lease of those that were still held under it.   Index: outbox_pkey. Released behind another is a HOT update.
UPDATE {outbox} o
   SET state            = CASE WHEN s.kind = 3 THEN 'DEAD_LETTER' ELSE 'PENDING' END,
       attempt          = CASE WHEN s.kind IN (2, 3) THEN o.attempt + 1 ELSE o.attempt END,
       claims           = CASE WHEN s.kind IN (5, 6) THEN GREATEST(o.claims - 1, 0) ELSE 0 END,
       available_at     = CASE WHEN s.kind IN (2, 4) THEN clock_timestamp() + s.delay * interval '1 microsecond'
                               WHEN s.kind = 5 THEN clock_timestamp()
                               ELSE o.available_at END,
       dead_lettered_at = CASE WHEN s.kind = 3 THEN statement_timestamp() END,
       last_error       = CASE WHEN s.kind IN (2, 3, 4) THEN s.error ELSE o.last_error END,
       error_type       = CASE WHEN s.kind IN (2, 3, 4) THEN s.error_type ELSE o.error_type END,
       claimed_at = NULL, claimed_by = NULL, lease_id = NULL, updated_at = statement_timestamp()
  FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::text[], $6::text[]) AS s (id, lease, kind, delay, error, error_type)
 WHERE o.id = s.id AND o.lease_id = s.lease AND o.state = 'PROCESSING'
RETURNING o.id, s.lease
