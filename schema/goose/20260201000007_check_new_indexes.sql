-- Generated from migrations/20260201000007_check_new_indexes.sql; change that file and run go generate.
-- +goose Up
-- +goose StatementBegin
-- Version 2, gate: stop before the old indexes go if a new one is missing or INVALID. IF NOT EXISTS would have passed
-- over the remains of an interrupted build. (The satchel migrator removes such remains itself; other tools do not.)
-- Locks: none that matter; it reads the catalogue.
DO $check$
DECLARE
    bad text;
BEGIN
    SELECT string_agg(wanted, ', ') INTO bad
      FROM unnest(ARRAY['idx_outbox_claim', 'idx_outbox_aggregate_unsettled', 'idx_outbox_published_settled',
                        'idx_outbox_dead_letter_settled']) AS wanted
     WHERE NOT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(wanted) AND indisvalid);
    IF bad IS NOT NULL THEN
        RAISE EXCEPTION 'index missing or invalid: %', bad
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Run REINDEX INDEX CONCURRENTLY for each of them, then apply the migrations again.';
    END IF;
END;
$check$;
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
