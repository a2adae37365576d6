-- Registers a relay or shows that it is alive.
--   $1 text owner   $2 bool asleep   $3 text scopes as JSON, or NULL to leave them
-- Result: none.   Index: outbox_relay_pkey. HOT: no other index.
INSERT INTO {outbox_relay} (owner, asleep, scopes, started_at, heartbeat_at)
VALUES ($1, $2::boolean, COALESCE($3::text::jsonb, '{}'), clock_timestamp(), clock_timestamp())
ON CONFLICT (owner) DO UPDATE
   SET asleep = EXCLUDED.asleep, heartbeat_at = EXCLUDED.heartbeat_at,
       scopes = CASE WHEN $3::text IS NULL THEN outbox_relay.scopes ELSE EXCLUDED.scopes END
