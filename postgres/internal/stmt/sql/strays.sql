-- Finds entries that a claim picked and did not get, since they had changed: what follows them in their aggregates must wait.
--   $1 bigint lease
-- Result: id and aggregate of those that are unsettled still and not held under the lease.   Index: outbox_lease_pkey, outbox_pkey.
SELECT o.id, o.aggregate_id
  FROM {outbox} o
 WHERE o.id = ANY (ARRAY(SELECT unnest(l.entry_ids) FROM {outbox_lease} l WHERE l.id = $1))
   AND o.aggregate_id IS NOT NULL AND o.state NOT IN ('PUBLISHED', 'DEAD_LETTER') AND o.lease_id IS DISTINCT FROM $1
