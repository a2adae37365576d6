-- Removes a relay from the registry.
--   $1 text owner
-- Result: none.   Index: outbox_relay_pkey.
DELETE FROM {outbox_relay} WHERE owner = $1
