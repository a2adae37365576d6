-- Generated from migrations/20260301000003_validate_payload_check.sql; change that file and run go generate.
-- +goose Up
-- +goose StatementBegin
-- Version 3, step 3: check the rows that were there before.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox while it is read once; reads and writes go on.
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_payload_one_form;
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
