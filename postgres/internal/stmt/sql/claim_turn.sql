-- Lets the statements after it, until the transaction ends, go on beside others that came this way, or alone: then it waits until
-- those have ended, a second at the most, and keeps others waiting. What comes after it then sees what they have claimed.
--   $1 text    what is claimed from: the table with its schema, and the types
--   $2 boolean whether to go on beside others, as long as nobody waits to go on alone
-- Result: ..., how it goes on: beside, alone, or waited (alone, and not at once), .... Fails with 55P03 (lock not available) when the
-- time is over.
SELECT set_config('satchel.lock_timeout', current_setting('lock_timeout'), true),
       set_config('lock_timeout', '1s', true),
       CASE WHEN $2::boolean AND pg_try_advisory_xact_lock_shared(hashtextextended($1::text, 7303)) THEN 'beside'
            WHEN pg_try_advisory_xact_lock(hashtextextended($1::text, 7303)) THEN 'alone'
            WHEN pg_advisory_xact_lock(hashtextextended($1::text, 7303)) IS NOT NULL THEN 'waited' END,
       set_config('lock_timeout', current_setting('satchel.lock_timeout'), true)
