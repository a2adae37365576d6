-- Generated from migrations/20260201000003_build_claim_index.sql; change that file and run go generate.
-- +goose NO TRANSACTION
-- +goose Up
-- +goose StatementBegin
-- Which rows of a destination type are due, oldest first? destination is included so that foreign ones cost no heap page.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. Two passes over the table, and the build waits for
-- transactions that are older than it. An interrupted build leaves an INVALID index: see schema/README.md.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_outbox_claim ON outbox
    (destination_type, (GREATEST(available_at, scheduled_at)), id) INCLUDE (destination)
    WHERE published_at IS NULL AND dead_lettered_at IS NULL;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $refuse$
BEGIN
    RAISE EXCEPTION 'satchel has no way down; nothing was changed; restore a backup or write a migration of your own'
        USING ERRCODE = 'feature_not_supported';
END;
$refuse$;
-- +goose StatementEnd
