-- Records that a run of a maintenance job succeeded, if it is still ours.
--   $1 text job   $2 text owner   $3 bigint rows changed
-- Result: none.   Index: outbox_maintenance_pkey.
UPDATE {outbox_maintenance} SET finished_at = clock_timestamp(), affected = $3 WHERE job = $1 AND owner = $2
