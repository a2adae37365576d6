-- atlas:txmode none

-- idx_outbox_published_settled has taken over and gets this name next.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_published;
