-- Generated from migrations/20260201000008_drop_pending_index.sql; change that file and run go generate.
-- idx_outbox_claim answers its question.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_pending;
