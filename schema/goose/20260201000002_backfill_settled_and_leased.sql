-- Generated from migrations/20260201000002_backfill_settled_and_leased.sql; change that file and run go generate.
-- +goose Up
-- +goose StatementBegin
-- Version 2, step 2: bring rows that version 1 relays have touched into the form of version 2.
-- Locks: ROW EXCLUSIVE on outbox and row locks on rows that are not pending; publishers are not delayed.
-- Every statement leaves alone what is in order already, so the file may be run again, by hand too, for rows that a
-- version 1 relay touched later. Stop those relays first: they would not record leases or dead_lettered_at.

UPDATE outbox SET dead_lettered_at = updated_at WHERE state = 'DEAD_LETTER' AND dead_lettered_at IS NULL;

UPDATE outbox SET published_at = updated_at WHERE state = 'PUBLISHED' AND published_at IS NULL;

-- A claim that names no owner cannot be settled by anybody: give the row back.
UPDATE outbox SET state = 'PENDING', claimed_at = NULL, updated_at = now()
 WHERE state = 'PROCESSING' AND claimed_by IS NULL;

-- One lease per owner. No version 1 relay renews it, so recovery returns the rows in 30 seconds.
WITH held AS (
    SELECT claimed_by, array_agg(id ORDER BY id) AS ids
      FROM outbox
     WHERE state = 'PROCESSING' AND claimed_by IS NOT NULL AND lease_id IS NULL
     GROUP BY claimed_by
), lease AS (
    INSERT INTO outbox_lease (owner, expires_at, entry_ids)
    SELECT claimed_by, now() + interval '30 seconds', ids FROM held
    RETURNING id, owner, entry_ids
)
UPDATE outbox o SET lease_id = lease.id, claims = o.claims + 1
  FROM lease, unnest(lease.entry_ids) AS entry(id)
 WHERE o.id = entry.id AND o.state = 'PROCESSING' AND o.claimed_by = lease.owner AND o.lease_id IS NULL;
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
