-- Claims due entries under a lease.
--
-- Every array of scans has one element per scan of the due-ordered index; a scan reads, for one destination type, the
-- rows after (from_due, from_id) up to and including (to_due, to_id), at most "window" of them. With a lag, it starts
-- that far before now instead.
--   $1  text[]         scan: destination type
--   $2  text[]         scan: from_due           $3  bigint[]  scan: from_id
--   $4  text[]         scan: to_due             $5  bigint[]  scan: to_id
--   $6  bigint[]       scan: lag in microseconds, 0 for none
--   $7  int[]          scan: window
--   $8  text[]         types of which every destination may be claimed ...
--   $9  text[], $10 text[]   ... except these (type, destination)
--   $11 text[], $12 text[]   (type, destination) that may be claimed of other types
--   $13 text[]         aggregates of which the first unsettled row is looked at, since its predecessor was settled
--   $14 int            limit: rows to claim          $15 int     longest run of one aggregate
--   $16 text           owner                         $17 bigint  length of the lease in microseconds
--   $18 bigint         lease to add the rows to, or NULL for a new one
--
-- Result: one row with meta set, then one row per claimed entry, in no order. meta is {"lease": id, "scans": [[number, rows, first
-- due, first id, last due, last id], ...], "cut": [due, id] of the last row taken from a scan, "heads": n, "picked": n,
-- "candidates": [rows that could have been heads, about how many of them were tried], "bumped": n, "again": rechecked aggregates
-- for which there was no room, or whose row was locked}; a due time is in microseconds since 1970. It is computed before any entry
-- is updated, so that the client can go on while these are on their way. Fewer rows come than were picked when some changed while
-- the statement waited for their locks: see strays.sql.
--
-- Index: idx_outbox_claim for scans, idx_outbox_aggregate for heads and runs. Locks and the update go to the very versions of the
-- rows that these found (tid): no other look-up is needed, and none that a planner without statistics could get wrong. A row that
-- changed since is left alone. Sub-queries that must not become joins over the whole table are lateral or scalar. No column of any
-- index is changed (HOT).
WITH scanned AS MATERIALIZED (
    SELECT s.ord, r.tid, r.id, r.due, r.destination_type, r.destination, r.aggregate_id, r.state
      FROM unnest($1::text[], $2::text[]::timestamptz[], $3::bigint[], $4::text[]::timestamptz[], $5::bigint[], $6::bigint[], $7::int[])
           WITH ORDINALITY AS s (type, from_due, from_id, to_due, to_id, lag, win, ord)
     CROSS JOIN LATERAL (
            SELECT o.ctid AS tid, o.id, GREATEST(o.available_at, o.scheduled_at) AS due, o.destination_type, o.destination,
                   o.aggregate_id, o.state
              FROM {outbox} o
             WHERE o.destination_type = s.type
               AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
               AND (GREATEST(o.available_at, o.scheduled_at), o.id) >
                   (CASE WHEN s.lag > 0 THEN statement_timestamp() - s.lag * interval '1 microsecond' ELSE s.from_due END, s.from_id)
               AND (GREATEST(o.available_at, o.scheduled_at), o.id) <= (s.to_due, s.to_id)
               AND GREATEST(o.available_at, o.scheduled_at) <= statement_timestamp()
             ORDER BY GREATEST(o.available_at, o.scheduled_at), o.id
             LIMIT s.win) r
), rechecked AS MATERIALIZED (
    SELECT r.tid, r.id, r.due, r.aggregate_id,
           CASE WHEN r.destination_type = ANY ($8::text[])
                THEN cardinality($9::text[]) = 0 OR (r.destination_type, r.destination) NOT IN (SELECT * FROM unnest($9::text[], $10::text[]))
                ELSE (r.destination_type, r.destination) IN (SELECT * FROM unnest($11::text[], $12::text[])) END AS allowed
      FROM unnest($13::text[]) AS a (id)
     CROSS JOIN LATERAL (
            SELECT o.ctid AS tid, o.id, GREATEST(o.available_at, o.scheduled_at) AS due, o.destination_type, o.destination,
                   o.aggregate_id, o.state
              FROM {outbox} o
             WHERE o.aggregate_id >= a.id AND o.aggregate_id <= a.id
               AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
             ORDER BY o.aggregate_id, o.id
             LIMIT 1) r
     WHERE r.state = 'PENDING' AND r.due <= statement_timestamp()
), eligible AS MATERIALIZED (
    SELECT DISTINCT ON (due, id) id, due, aggregate_id, tid
      FROM scanned s
     WHERE state = 'PENDING'
       AND CASE WHEN destination_type = ANY ($8::text[])
                THEN cardinality($9::text[]) = 0 OR (destination_type, destination) NOT IN (SELECT * FROM unnest($9::text[], $10::text[]))
                ELSE (destination_type, destination) IN (SELECT * FROM unnest($11::text[], $12::text[])) END
), line AS MATERIALIZED (
    -- The rows in sight that are the first unsettled one of their aggregate. Only the first in sight can be, so that one look for
    -- an earlier one is enough for an aggregate: a busy one can have many rows here, and many settled ones that a vacuum has not
    -- removed yet.
    SELECT a.first AS id
      FROM (SELECT aggregate_id, min(id) AS first FROM eligible WHERE aggregate_id IS NOT NULL GROUP BY aggregate_id) a
     WHERE (SELECT o.id
              FROM {outbox} o
             WHERE o.aggregate_id >= a.aggregate_id AND (o.aggregate_id, o.id) < (a.aggregate_id, a.first)
               AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
             ORDER BY o.aggregate_id, o.id
             LIMIT 1) IS NULL
), candidate AS MATERIALIZED (
    -- Heads of rechecked aggregates and rows of scans take turns, so that neither starves the other.
    SELECT tid, due, scan, row_number() OVER (PARTITION BY scan ORDER BY due, id) AS turn
      FROM (SELECT tid, id, due, false AS scan FROM rechecked WHERE allowed
            UNION ALL
            SELECT tid, id, due, true
              FROM eligible e
             WHERE (aggregate_id IS NULL OR id IN (SELECT id FROM line))
               AND id NOT IN (SELECT id FROM rechecked)) c
     ORDER BY turn, scan
), head AS MATERIALIZED (
    -- The head's row lock is the aggregate's mutex: whoever has it may touch the aggregate.
    SELECT c.tid, c.scan, c.turn, c.due, h.id, h.aggregate_id, h.destination_type, row_number() OVER () AS ord
      FROM candidate c
     CROSS JOIN LATERAL (
            SELECT o.id, o.aggregate_id, o.destination_type
              FROM {outbox} o
             WHERE o.ctid = c.tid AND o.state = 'PENDING'
               AND GREATEST(o.available_at, o.scheduled_at) <= statement_timestamp()
               FOR NO KEY UPDATE SKIP LOCKED) h
     LIMIT $14::int
), follower AS MATERIALIZED (
    SELECT f.tid, f.id
      FROM head h
     CROSS JOIN LATERAL (
            SELECT n.tid, n.id, row_number() OVER (ORDER BY n.id) AS place,
                   bool_and(n.state = 'PENDING' AND n.due <= statement_timestamp() AND n.destination_type = h.destination_type
                            AND CASE WHEN n.destination_type = ANY ($8::text[])
                                     THEN cardinality($9::text[]) = 0 OR (n.destination_type, n.destination) NOT IN (SELECT * FROM unnest($9::text[], $10::text[]))
                                     ELSE (n.destination_type, n.destination) IN (SELECT * FROM unnest($11::text[], $12::text[])) END)
                   OVER (ORDER BY n.id) AS fits
              FROM (SELECT o.ctid AS tid, o.id, GREATEST(o.available_at, o.scheduled_at) AS due, o.destination_type, o.destination, o.state
                      FROM {outbox} o
                     WHERE (o.aggregate_id, o.id) > (h.aggregate_id, h.id) AND o.aggregate_id <= h.aggregate_id
                       AND o.published_at IS NULL AND o.dead_lettered_at IS NULL
                     ORDER BY o.aggregate_id, o.id
                     LIMIT LEAST($15::int - 1, $14::int - (SELECT count(*) FROM head))) n) f
     WHERE h.aggregate_id IS NOT NULL AND f.fits
     ORDER BY f.place, h.ord
     LIMIT $14::int - (SELECT count(*) FROM head)
), picked AS MATERIALIZED (
    SELECT tid, id FROM head
    UNION ALL
    SELECT tid, id FROM follower
), fresh AS (
    INSERT INTO {outbox_lease} (owner, expires_at, entry_ids)
    SELECT $16, clock_timestamp() + $17::bigint * interval '1 microsecond', array_agg(id)
      FROM picked
     WHERE $18::bigint IS NULL
    HAVING count(*) > 0
    RETURNING id
), grown AS (
    UPDATE {outbox_lease}
       SET entry_ids = entry_ids || ARRAY(SELECT id FROM picked)
     WHERE id = $18::bigint AND EXISTS (SELECT FROM picked)
    RETURNING id
), claimed AS (
    UPDATE {outbox} o
       SET state = 'PROCESSING', claimed_at = statement_timestamp(), claimed_by = $16, claims = o.claims + 1,
           updated_at = statement_timestamp(), lease_id = (SELECT id FROM fresh UNION ALL SELECT id FROM grown)
     WHERE o.ctid = ANY (ARRAY(SELECT tid FROM picked)) AND o.state = 'PENDING'
       -- A lease that was to be added to may have been taken back meanwhile: then nothing is claimed.
       AND (SELECT id FROM fresh UNION ALL SELECT id FROM grown) IS NOT NULL
    RETURNING o.id, o.carrier_id, o.aggregate_type, o.aggregate_id, o.event_type, o.destination, o.destination_type, o.payload,
              o.payload_raw, o.content_type, o.headers, o.metadata, o.attempt, o.max_attempts, o.claims, o.available_at,
              o.scheduled_at, o.created_at
), bumped AS (
    -- A next head that is not for this node moves to the tail of the index, where the nodes that serve it look.
    UPDATE {outbox} o
       SET available_at = clock_timestamp(), updated_at = statement_timestamp()
     WHERE o.ctid = ANY (ARRAY(
            SELECT r.tid FROM rechecked r
             CROSS JOIN LATERAL (SELECT FROM {outbox} b WHERE b.ctid = r.tid AND b.state = 'PENDING' FOR NO KEY UPDATE SKIP LOCKED) l
             WHERE NOT r.allowed))
       AND o.state = 'PENDING'
    RETURNING o.id
), tally AS MATERIALIZED (
    SELECT count(*) AS heads, max(turn) AS turn, max(ord) FILTER (WHERE scan) AS cut FROM head
)
SELECT jsonb_build_object(
           'lease', (SELECT id FROM fresh UNION ALL SELECT id FROM grown),
           'scans', (SELECT jsonb_agg(jsonb_build_array(
                        ord, n,
                        (extract(epoch FROM first) * 1000000)::bigint, (SELECT min(s.id) FROM scanned s WHERE s.ord = e.ord AND s.due = first),
                        (extract(epoch FROM last) * 1000000)::bigint, (SELECT max(s.id) FROM scanned s WHERE s.ord = e.ord AND s.due = last)))
                       FROM (SELECT ord, count(*) AS n, min(due) AS first, max(due) AS last FROM scanned GROUP BY ord) e),
           'cut', (SELECT jsonb_build_array((extract(epoch FROM h.due) * 1000000)::bigint, h.id) FROM head h WHERE h.ord = (SELECT cut FROM tally)),
           'heads', (SELECT heads FROM tally),
           'picked', (SELECT heads FROM tally) + (SELECT count(*) FROM follower),
           'candidates', (SELECT jsonb_build_array(count(*), count(*) FILTER (WHERE t.heads < $14::int OR c.turn <= t.turn))
                            FROM candidate c, tally t),
           'again', (SELECT jsonb_agg(r.aggregate_id) FROM rechecked r WHERE r.allowed AND NOT EXISTS (SELECT FROM head h WHERE h.id = r.id)),
           'bumped', (SELECT count(*) FROM bumped)) AS meta,
       NULL::bigint AS id, NULL::uuid AS carrier_id, NULL::text AS aggregate_type, NULL::text AS aggregate_id, NULL::text AS event_type,
       NULL::text AS destination, NULL::text AS destination_type, NULL::jsonb AS payload, NULL::bytea AS payload_raw,
       NULL::text AS content_type, NULL::jsonb AS headers, NULL::jsonb AS metadata, NULL::int AS attempt, NULL::int AS max_attempts,
       NULL::int AS claims, NULL::timestamptz AS available_at, NULL::timestamptz AS scheduled_at, NULL::timestamptz AS created_at
UNION ALL
SELECT NULL, c.* FROM claimed c;
