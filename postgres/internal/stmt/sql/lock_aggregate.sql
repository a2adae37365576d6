-- Takes a lock for an aggregate until the transaction ends.
--   $1 text name of the table with its schema   $2 text aggregate id
-- Result: one row.
SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2::text, 7301))
