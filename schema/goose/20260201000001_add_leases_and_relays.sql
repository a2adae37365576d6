-- Generated from migrations/20260201000001_add_leases_and_relays.sql; change that file and run go generate.
-- +goose Up
-- +goose StatementBegin
-- Version 2, step 1: columns and tables for leases, relays and maintenance; a trigger that notifies sleepers only.
-- Locks: ACCESS EXCLUSIVE on outbox for some milliseconds. No row is read or rewritten: the defaults are constants.
-- Waiting for that lock makes every later writer wait as well, so the wait is bounded; run the file again when it fails.
SET LOCAL lock_timeout = '1s';

-- dead_lettered_at makes "unsettled" a matter of two timestamps (published_at IS NULL AND dead_lettered_at IS NULL):
-- no index has to mention state, so that claiming a row changes no indexed column.
ALTER TABLE outbox
    ADD COLUMN dead_lettered_at timestamptz NULL,
    ADD COLUMN lease_id         bigint      NULL,
    ADD COLUMN claims           integer     NOT NULL DEFAULT 0;

-- fillfactor: a claim writes a second version of its row. With half of the page free it fits beside the first (a HOT
--   update: no index is written), and the space comes back without vacuum. Pages written earlier keep their filling.
-- autovacuum_vacuum_*: settling and deleting leave dead entries in the indexes that claims read, so clean at 5 % instead
--   of 20 %, and with five times the default I/O budget, so that one pass over a large table ends before the next is due.
-- autovacuum_analyze_scale_factor: the share of unsettled rows moves quickly; plans should see it.
ALTER TABLE outbox SET (
    fillfactor = 45,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_limit = 1000
);

-- One row per claimed batch; id fences every settle of that batch. The table holds a handful of rows at any time and is
-- read whole, hence no index but the key. expires_at is updated in place (HOT, hence the free space); vacuum runs
-- unthrottled and by count, not by share, as dead rows are nearly all of this table. Long entry_ids go to TOAST as they are:
-- to compress those of 1,000 entries takes 1 ms, twenty times as long as to store them.
CREATE TABLE outbox_lease (
    id         bigint       GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner      varchar(255) NOT NULL,
    expires_at timestamptz  NOT NULL,
    entry_ids  bigint[]     NOT NULL,
    created_at timestamptz  NOT NULL DEFAULT now()
) WITH (
    fillfactor = 30,
    autovacuum_vacuum_threshold = 200,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE outbox_lease ALTER COLUMN entry_ids SET STORAGE EXTERNAL;

-- One row per running relay: alive (heartbeat_at), waiting for a notification (asleep), able to deliver what (scopes).
-- A trigger below reads it for every insert into outbox while somebody sleeps, so it has to stay one or two pages.
CREATE TABLE outbox_relay (
    owner        varchar(255) PRIMARY KEY,
    started_at   timestamptz  NOT NULL DEFAULT now(),
    heartbeat_at timestamptz  NOT NULL DEFAULT now(),
    asleep       boolean      NOT NULL DEFAULT false,
    scopes       jsonb        NOT NULL DEFAULT '{}'
) WITH (
    fillfactor = 20,
    autovacuum_vacuum_threshold = 200,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 0
);

-- The last run of each maintenance job: which node took it, and what came of it.
CREATE TABLE outbox_maintenance (
    job         varchar(64)  PRIMARY KEY,
    owner       varchar(255) NOT NULL,
    started_at  timestamptz  NOT NULL,
    finished_at timestamptz  NULL,
    affected    bigint       NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- NOTIFY serialises commits across the whole database, so it is sent only while a relay sleeps; the payload is empty
-- because a notification is a hint to look, and equal ones of one transaction collapse.
-- SECURITY DEFINER: a publisher needs no right on outbox_relay. EXECUTE stays with PUBLIC: the right is checked when a
-- trigger is created, not when it fires, nobody can call a trigger function directly, and a stranger who puts it on a
-- table of his own can do no more than wake a relay for nothing.
-- The body names the schema, so whatever search_path a publisher has, also after a dump and restore, means nothing to it: it uses
-- no operator, and no name that is not qualified. A SET search_path would do the same and cost every insert a twentieth.
DO $create$
BEGIN
    EXECUTE format($function$
CREATE FUNCTION %1$I.transactional_outbox_wake() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
AS $body$
BEGIN
    IF EXISTS (SELECT FROM %1$I.outbox_relay WHERE asleep) THEN
        PERFORM pg_catalog.pg_notify('transactional_outbox_channel', '');
    END IF;
    RETURN NULL;
END;
$body$
$function$, current_schema());
END;
$create$;

-- The gate in front of that function: a sequence that has a last value while a relay may be asleep, and none while all are
-- awake. The trigger on outbox looks at it before it calls the function, since a call costs a publisher a twentieth of all that it
-- does, and a sequence, read without a snapshot or an executor, a tenth of that. What is written to a sequence is seen
-- before the commit and stays after a rollback, so nobody does it but the trigger on outbox_relay, one transaction at a
-- time. A gate that stays open for nobody, as after a TRUNCATE of outbox_relay, does no harm: the function looks again.
CREATE SEQUENCE outbox_gate OWNED BY outbox_relay.asleep;
GRANT SELECT ON SEQUENCE outbox_gate TO PUBLIC;

DO $create$
BEGIN
    EXECUTE format($function$
CREATE FUNCTION %1$I.transactional_outbox_gate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp
AS $body$
DECLARE
    was_asleep boolean := COALESCE(OLD.asleep, false);
    is_asleep  boolean := COALESCE(NEW.asleep, false);
    is_open    boolean := pg_sequence_last_value('outbox_gate') IS NOT NULL;
BEGIN
    -- A heartbeat waits for nobody. That of a sleeper opens a gate closed in error: the rows of a DELETE that was rolled back.
    IF was_asleep = is_asleep AND (is_open OR NOT is_asleep) THEN
        RETURN NULL;
    END IF;
    -- Until this transaction ends nobody else falls asleep or wakes: who closes the gate has seen all sleepers.
    PERFORM pg_advisory_xact_lock(hashtextextended('outbox_gate ' || 'outbox_gate'::regclass::oid, 7303));
    IF EXISTS (SELECT FROM outbox_relay WHERE asleep) THEN
        PERFORM setval('outbox_gate', 1);
    ELSE
        PERFORM setval('outbox_gate', 1, false);
    END IF;
    RETURN NULL;
END;
$body$
$function$, current_schema());
END;
$create$;

CREATE TRIGGER transactional_outbox_gate
    AFTER INSERT OR DELETE OR UPDATE OF asleep ON outbox_relay
    FOR EACH ROW EXECUTE FUNCTION transactional_outbox_gate();

DROP TRIGGER transactional_outbox_notify ON outbox;
DROP FUNCTION notify_transactional_outbox();

CREATE TRIGGER transactional_outbox_notify
    AFTER INSERT ON outbox
    FOR EACH STATEMENT
    -- Without the right to read the gate, as after a restore without rights, reading it would fail the publisher.
    WHEN (CASE WHEN has_sequence_privilege('outbox_gate'::regclass, 'SELECT') THEN pg_sequence_last_value('outbox_gate') IS NOT NULL ELSE true END)
    EXECUTE FUNCTION transactional_outbox_wake();
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
