-- Settles delivered entries: they stay in the table as published.
--   $1 bigint[] entry ids   $2 bigint[] the lease of each
-- Result: id and lease of those that were still held under it.   Index: outbox_pkey.
UPDATE {outbox} o
   SET state = 'PUBLISHED', published_at = statement_timestamp(), updated_at = statement_timestamp(), claims = 0, lease_id = NULL
  FROM unnest($1::bigint[], $2::bigint[]) AS s (id, lease)
 WHERE o.id = s.id AND o.lease_id = s.lease AND o.state = 'PROCESSING'
RETURNING o.id, s.lease
