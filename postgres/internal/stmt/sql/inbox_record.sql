-- Records the marker of a message, or does nothing if it is there. Waits for a concurrent transaction that recorded the same.
--   $1 text message id   $2 text source
-- Result: one row if the marker is new.   Index: inbox_pkey.
INSERT INTO {inbox} (message_id, source, processed_at)
VALUES ($1, $2, clock_timestamp())
ON CONFLICT DO NOTHING
RETURNING 1
