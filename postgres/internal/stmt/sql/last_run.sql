-- Tells how long ago a maintenance job was last finished.
--   $1 text job
-- Result: microseconds, or no row when it never ran.   Index: outbox_maintenance_pkey.
SELECT (extract(epoch FROM clock_timestamp() - COALESCE(finished_at, started_at)) * 1000000)::bigint
  FROM {outbox_maintenance} WHERE job = $1
