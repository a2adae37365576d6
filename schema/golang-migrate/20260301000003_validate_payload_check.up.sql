-- Generated from migrations/20260301000003_validate_payload_check.sql; change that file and run go generate.
-- Version 3, step 3: check the rows that were there before.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox while it is read once; reads and writes go on.
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_payload_one_form;
