-- Settles delivered entries: they are removed.
--   $1 bigint[] entry ids   $2 bigint[] the lease of each
-- Result: id and lease of those that were still held under it.   Index: outbox_pkey.
DELETE FROM {outbox} o
 USING unnest($1::bigint[], $2::bigint[]) AS s (id, lease)
 WHERE o.id = s.id AND o.lease_id = s.lease AND o.state = 'PROCESSING'
RETURNING o.id, s.lease
