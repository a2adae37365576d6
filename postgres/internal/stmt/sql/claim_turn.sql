-- Waits until no other relay that waits like this is claiming, 250 ms at the most, and keeps the others waiting until the
-- transaction ends. The statement after it then sees what they have claimed.
--   $1 text name of the table of entries with its schema
-- Result: ..., whether it was this relay's turn at once (what waiting returns is not NULL), .... Fails with 55P03 (lock not available)
-- when the time is over.
SELECT set_config('satchel.lock_timeout', current_setting('lock_timeout'), true),
       set_config('lock_timeout', '250ms', true),
       CASE WHEN pg_try_advisory_xact_lock(hashtextextended($1::text, 7303)) THEN true
            ELSE pg_advisory_xact_lock(hashtextextended($1::text, 7303)) IS NULL END,
       set_config('lock_timeout', current_setting('satchel.lock_timeout'), true)
