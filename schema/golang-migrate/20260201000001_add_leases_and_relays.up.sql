-- Generated from migrations/20260201000001_add_leases_and_relays.sql; change that file and run go generate.
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
-- The trigger below reads it for every insert into outbox, so it has to stay one or two pages.
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

DROP TRIGGER transactional_outbox_notify ON outbox;
DROP FUNCTION notify_transactional_outbox();

CREATE TRIGGER transactional_outbox_notify
    AFTER INSERT ON outbox
    FOR EACH STATEMENT EXECUTE FUNCTION transactional_outbox_wake();
