-- Generated from migrations/20260201000013_rename_indexes.sql; change that file and run go generate.
-- +goose Up
-- +goose StatementBegin
-- Version 2, last step: the new indexes take over the names of those they replace.
-- Locks: SHARE UPDATE EXCLUSIVE on the indexes, for the catalogue change only; reads and writes go on.
ALTER INDEX IF EXISTS idx_outbox_aggregate_unsettled RENAME TO idx_outbox_aggregate;
ALTER INDEX IF EXISTS idx_outbox_published_settled RENAME TO idx_outbox_published;
ALTER INDEX IF EXISTS idx_outbox_dead_letter_settled RENAME TO idx_outbox_dead_letter;
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
