-- Records that a maintenance job begins, unless it began less than a period ago.
--   $1 text job   $2 text owner   $3 bigint period in microseconds
-- Result: one row changed if the job is to be done.   Index: outbox_maintenance_pkey.
INSERT INTO {outbox_maintenance} AS m (job, owner, started_at)
VALUES ($1, $2, clock_timestamp())
ON CONFLICT (job) DO UPDATE
   SET owner = EXCLUDED.owner, started_at = EXCLUDED.started_at
 WHERE m.started_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
