-- Generated from migrations/20260301000002_add_raw_payload.sql; change that file and run go generate.
-- Version 3, step 2: payloads that are not JSON, kept as the bytes they are.
-- Locks: ACCESS EXCLUSIVE on outbox for some milliseconds. NOT VALID: new rows are checked from now on, the rows that
-- are there by the next file, under a weaker lock. The wait for the lock is bounded; run the file again when it fails.
SET LOCAL lock_timeout = '1s';

ALTER TABLE outbox
    ALTER COLUMN payload DROP NOT NULL,
    ADD COLUMN payload_raw  bytea        NULL,
    ADD COLUMN content_type varchar(255) NULL,
    ADD CONSTRAINT outbox_payload_one_form CHECK ((payload IS NULL) <> (payload_raw IS NULL)) NOT VALID;
