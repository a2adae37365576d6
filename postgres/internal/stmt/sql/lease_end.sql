-- Removes leases of which nothing is held any more.
--   $1 bigint[] lease ids
-- Result: none.   Index: outbox_lease_pkey.
DELETE FROM {outbox_lease} WHERE id = ANY ($1::bigint[])
