-- Generated from migrations/20260201000013_rename_indexes.sql; change that file and run go generate.
-- Version 2, last step: the new indexes take over the names of those they replace.
-- Locks: SHARE UPDATE EXCLUSIVE on the indexes, for the catalogue change only; reads and writes go on.
ALTER INDEX IF EXISTS idx_outbox_aggregate_unsettled RENAME TO idx_outbox_aggregate;
ALTER INDEX IF EXISTS idx_outbox_published_settled RENAME TO idx_outbox_published;
ALTER INDEX IF EXISTS idx_outbox_dead_letter_settled RENAME TO idx_outbox_dead_letter;
