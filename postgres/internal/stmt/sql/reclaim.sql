-- Takes back expired leases. Never waits for a lock: a lease or an entry that somebody is working on stays for the next run, so
-- that this can run beside settlements and renewals without a deadlock.
--   $1 int leases at most   $2 int claims in a row after which an entry is given up
-- Result: leases taken back, entries returned, entries given up, and the aggregates of the latter.
-- Index: outbox_pkey for the entries; outbox_lease is read whole, it holds one row per batch in flight.
WITH expired AS MATERIALIZED (
    SELECT id, entry_ids FROM {outbox_lease}
     WHERE expires_at < clock_timestamp()
     ORDER BY expires_at
     LIMIT $1::int
       FOR UPDATE SKIP LOCKED
), held AS MATERIALIZED (
    SELECT e.id AS lease, o.id
      FROM expired e
     CROSS JOIN LATERAL unnest(e.entry_ids) AS x (id)
     CROSS JOIN LATERAL (SELECT r.id FROM {outbox} r WHERE r.id = x.id AND r.lease_id = e.id AND r.state = 'PROCESSING') o
), locked AS MATERIALIZED (
    SELECT h.lease, o.id
      FROM held h
     CROSS JOIN LATERAL (SELECT r.id FROM {outbox} r WHERE r.id = h.id AND r.lease_id = h.lease AND r.state = 'PROCESSING'
                            FOR NO KEY UPDATE SKIP LOCKED) o
), back AS (
    UPDATE {outbox} o
       SET state            = CASE WHEN o.claims >= $2::int THEN 'DEAD_LETTER' ELSE 'PENDING' END,
           dead_lettered_at = CASE WHEN o.claims >= $2::int THEN statement_timestamp() END,
           available_at     = CASE WHEN o.claims >= $2::int THEN o.available_at ELSE clock_timestamp() END,
           last_error       = CASE WHEN o.claims >= $2::int
                                   THEN 'claimed ' || o.claims || ' times in a row without an outcome: its relays crashed or hung'
                                   ELSE o.last_error END,
           error_type       = CASE WHEN o.claims >= $2::int THEN 'crash loop' ELSE o.error_type END,
           claimed_at = NULL, claimed_by = NULL, lease_id = NULL, updated_at = statement_timestamp()
     WHERE o.id = ANY (ARRAY(SELECT id FROM locked)) AND o.state = 'PROCESSING'
    RETURNING o.state, o.aggregate_id
), ended AS (
    DELETE FROM {outbox_lease} l
     WHERE l.id = ANY (ARRAY(SELECT e.id FROM expired e
                              WHERE (SELECT count(*) FROM held h WHERE h.lease = e.id) = (SELECT count(*) FROM locked k WHERE k.lease = e.id)))
    RETURNING id
)
SELECT (SELECT count(*) FROM ended), count(*) FILTER (WHERE state = 'PENDING'), count(*) FILTER (WHERE state = 'DEAD_LETTER'),
       COALESCE(array_agg(DISTINCT aggregate_id::text) FILTER (WHERE state = 'DEAD_LETTER' AND aggregate_id IS NOT NULL), '{}')
  FROM back
