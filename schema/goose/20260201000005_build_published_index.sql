-- Generated from migrations/20260201000005_build_published_index.sql; change that file and run go generate.
-- +goose NO TRANSACTION
-- +goose Up
-- +goose StatementBegin
-- Which rows were published before a given day? Replaces idx_outbox_published, whose predicate names state.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. Two passes over the table, and the build waits for
-- transactions that are older than it. An interrupted build leaves an INVALID index: see schema/README.md.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_outbox_published_settled ON outbox
    (published_at)
    WHERE published_at IS NOT NULL;
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
