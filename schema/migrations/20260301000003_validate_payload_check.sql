-- Version 3, step 3: check the rows that were there before.
-- Locks: SHARE UPDATE EXCLUSIVE on outbox while it is read once; reads and writes go on.
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_payload_one_form;
