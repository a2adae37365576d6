-- Tells how long ago a maintenance job last succeeded.
--   $1 text job
-- Result: microseconds, or no row when it never did.   Index: outbox_maintenance_pkey.
SELECT (extract(epoch FROM clock_timestamp() - finished_at) * 1000000)::bigint
  FROM {outbox_maintenance} WHERE job = $1 AND finished_at IS NOT NULL
