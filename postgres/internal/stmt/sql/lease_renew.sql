-- Extends leases, counted from now.
--   $1 bigint[] lease ids   $2 bigint length in microseconds
-- Result: the ids that are still there.   Index: outbox_lease_pkey. HOT: no index holds expires_at.
UPDATE {outbox_lease}
   SET expires_at = clock_timestamp() + $2::bigint * interval '1 microsecond'
 WHERE id = ANY ($1::bigint[])
RETURNING id
