-- Wakes sleeping relays, as the trigger does for inserts: for entries that became claimable without one.
-- Result: one row if anybody was asleep.
SELECT pg_notify('transactional_outbox_channel', '') WHERE EXISTS (SELECT FROM {outbox_relay} WHERE asleep)
