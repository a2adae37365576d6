-- atlas:txmode none

-- Recovery reads outbox_lease instead.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_processing;
