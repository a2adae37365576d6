-- Generated from migrations/20260201000006_build_dead_letter_index.sql; change that file and run go generate.
-- +goose NO TRANSACTION
-- +goose Up
-- +goose StatementBegin
-- Which rows died, and when? Replaces idx_outbox_dead_letter, whose predicate names state.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox; reads and writes go on. Two passes over the table, and the build waits for
-- transactions that are older than it. An interrupted build leaves an INVALID index: see schema/README.md.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_outbox_dead_letter_settled ON outbox
    (dead_lettered_at)
    WHERE dead_lettered_at IS NOT NULL;
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
