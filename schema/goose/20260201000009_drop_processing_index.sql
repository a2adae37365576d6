-- Generated from migrations/20260201000009_drop_processing_index.sql; change that file and run go generate.
-- +goose NO TRANSACTION
-- +goose Up
-- +goose StatementBegin
-- Recovery reads outbox_lease instead.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. It waits for transactions that may still use the index.
DROP INDEX CONCURRENTLY IF EXISTS idx_outbox_processing;
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
