-- Creates the archive's partitions of the coming days and drops those past retention.
--   $1 int days ahead   $2 int days to keep, or NULL for all
-- Result: the number of partitions dropped.
SELECT {outbox_archive_maintain}($1::int, $2::int)
