-- Generated from migrations/20260201000010_drop_old_aggregate_index.sql; change that file and run go generate.
-- idx_outbox_aggregate_unsettled has taken over and gets this name next.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_aggregate;
