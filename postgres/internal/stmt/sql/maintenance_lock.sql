-- Tries to take the lock of a maintenance job until the transaction ends.
--   $1 text name of the table of entries with its schema   $2 text job
-- Result: whether it was free.
SELECT pg_try_advisory_xact_lock(hashtextextended($1::text || ':' || $2::text, 7302))
