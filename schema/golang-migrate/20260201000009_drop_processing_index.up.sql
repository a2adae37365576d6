-- Generated from migrations/20260201000009_drop_processing_index.sql; change that file and run go generate.
-- Recovery reads outbox_lease instead.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_processing;
