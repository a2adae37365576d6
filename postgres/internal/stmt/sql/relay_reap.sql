-- Removes relays whose heartbeat is stale and counts the others.
--   $1 bigint age in microseconds
-- Result: the number of relays alive.
WITH gone AS (
    DELETE FROM {outbox_relay}
     WHERE owner IN (SELECT owner FROM {outbox_relay}
                      WHERE heartbeat_at < clock_timestamp() - $1::bigint * interval '1 microsecond'
                        FOR UPDATE SKIP LOCKED)
    RETURNING owner
)
SELECT count(*) FROM {outbox_relay} r WHERE NOT EXISTS (SELECT FROM gone g WHERE g.owner = r.owner)
