-- Generated from migrations/20260301000001_create_outbox_archive.sql; change that file and run go generate.
-- Version 3, step 1: a place for published rows that is emptied by dropping whole days instead of deleting rows.
-- Locks: only new objects are created, so nothing that exists is locked.

-- What is worth keeping of a delivered row, partitioned by the day of its delivery. No index: rows come in by the
-- million and are rarely read, and a reader who names a day scans that day only. A row whose day has no partition goes
-- to the default partition, so that archiving never fails.
CREATE TABLE outbox_archive (
    id               bigint       NOT NULL,
    carrier_id       uuid         NOT NULL,
    aggregate_type   varchar(255) NULL,
    aggregate_id     varchar(255) NULL,
    event_type       varchar(255) NOT NULL,
    destination      varchar(255) NOT NULL,
    destination_type varchar(32)  NOT NULL,
    payload          jsonb        NULL,
    payload_raw      bytea        NULL,
    content_type     varchar(255) NULL,
    headers          jsonb        NULL,
    metadata         jsonb        NOT NULL DEFAULT '{}',
    attempt          integer      NOT NULL DEFAULT 0,
    scheduled_at     timestamptz  NULL,
    created_at       timestamptz  NOT NULL,
    published_at     timestamptz  NOT NULL
) PARTITION BY RANGE (published_at);

CREATE TABLE outbox_archive_default PARTITION OF outbox_archive DEFAULT;

-- outbox_archive_maintain creates the day partitions (UTC) from today to today + days_ahead that are missing, drops
-- those in which every row is older than keep_days (NULL keeps all), and returns how many it dropped. Call it daily or
-- oftener, in a transaction of its own: what it locks stays locked until that transaction ends.
--
-- It gives up what it cannot lock within 200 ms and does it in a later call, so writers wait no longer than that for it:
--  * A partition is created apart and attached: SHARE UPDATE EXCLUSIVE on the archive, which writers pass, and ACCESS
--    EXCLUSIVE on the default partition, which is scanned for rows of that day. The scan is over at once while the
--    default partition is empty, as it should be; otherwise a call attaches one partition only, to scan it once.
--  * For the partition of today, writers are kept out (SHARE ROW EXCLUSIVE): one that had chosen the default partition
--    for its row and then waited for the attachment would fail. Later days have no writers yet.
--  * A day of which the default partition holds rows already stays there and gets no partition of its own.
--  * Old rows of the default partition are deleted, at most 50,000 per call.
--  * Dropping a partition takes ACCESS EXCLUSIVE on the archive. It comes last, so that it is held for an instant.
--
-- SECURITY DEFINER: the caller needs EXECUTE and nothing else, not the ownership of the archive.
CREATE FUNCTION outbox_archive_maintain(days_ahead integer, keep_days integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET lock_timeout = '200ms'
AS $$
DECLARE
    today        CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    oldest       date;
    default_used boolean;
    day          date;
    partition    text;
    dropped      integer := 0;
BEGIN
    IF days_ahead IS NULL OR days_ahead NOT BETWEEN 0 AND 366 THEN
        RAISE EXCEPTION 'days_ahead must be between 0 and 366' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF keep_days NOT BETWEEN 1 AND 36500 THEN
        RAISE EXCEPTION 'keep_days must be between 1 and 36500, or NULL' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    oldest := today - keep_days;

    -- One call at a time; writers and readers pass this lock.
    BEGIN
        LOCK TABLE outbox_archive IN SHARE UPDATE EXCLUSIVE MODE;
        DELETE FROM outbox_archive_default
         WHERE ctid = ANY (ARRAY(SELECT ctid FROM outbox_archive_default
                                  WHERE published_at < oldest::timestamp AT TIME ZONE 'UTC' LIMIT 50000));
        default_used := EXISTS (SELECT 1 FROM outbox_archive_default);
    EXCEPTION WHEN lock_not_available THEN
        RETURN 0;
    END;

    FOR ahead IN 0 .. days_ahead LOOP
        day := today + ahead;
        partition := to_char(day, '"outbox_archive_y"YYYY"m"MM"d"DD');
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), partition)) IS NOT NULL;
        CONTINUE WHEN default_used AND EXISTS (
            SELECT 1 FROM outbox_archive_default
             WHERE published_at >= day::timestamp AT TIME ZONE 'UTC'
               AND published_at < (day + 1)::timestamp AT TIME ZONE 'UTC');
        BEGIN
            IF ahead = 0 THEN
                LOCK TABLE outbox_archive IN SHARE ROW EXCLUSIVE MODE;
            END IF;
            EXECUTE format('CREATE TABLE %I (LIKE outbox_archive INCLUDING ALL)', partition);
            EXECUTE format('ALTER TABLE outbox_archive ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
                           to_char(day, 'YYYY-MM-DD 00:00:00+00'), to_char(day + 1, 'YYYY-MM-DD 00:00:00+00'));
        EXCEPTION WHEN lock_not_available OR check_violation THEN
            EXIT WHEN ahead > 0; -- busy, or a row of that day reached the default partition just now
            CONTINUE;            -- with today in use, the days to come matter all the more
        END;
        EXIT WHEN default_used;
    END LOOP;

    FOR partition IN
        SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
         WHERE inhparent = 'outbox_archive'::regclass
           AND relname::text ~ '^outbox_archive_y\d{4}m\d{2}d\d{2}$'
           AND relname::text COLLATE "C" < to_char(oldest, '"outbox_archive_y"YYYY"m"MM"d"DD')
         ORDER BY relname
    LOOP
        BEGIN
            EXECUTE 'DROP TABLE ' || partition;
            dropped := dropped + 1;
        EXCEPTION WHEN lock_not_available THEN
            EXIT;
        END;
    END LOOP;
    RETURN dropped;
END;
$$;

-- Pinned to this schema, with pg_temp last: it is searched first when it is not named, and then a caller's temporary tables would be
-- used with the definer's rights.
DO $pin$
BEGIN
    EXECUTE format('ALTER FUNCTION %1$I.outbox_archive_maintain(integer, integer) SET search_path = %1$I, pg_temp',
                   current_schema());
END;
$pin$;

-- It drops data, hence: GRANT EXECUTE ON FUNCTION outbox_archive_maintain(integer, integer) TO the runtime role.
REVOKE EXECUTE ON FUNCTION outbox_archive_maintain(integer, integer) FROM PUBLIC;
