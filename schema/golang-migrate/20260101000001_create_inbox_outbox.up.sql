-- Generated from migrations/20260101000001_create_inbox_outbox.sql; change that file and run go generate.
-- Version 1: the inbox and outbox tables, their indexes and the notification trigger.
-- Locks: only new objects are created, so nothing that exists is locked.

-- One row per message to deliver. It is written in the transaction of the business change it reports.
CREATE TABLE outbox (
    id               bigserial    PRIMARY KEY,
    carrier_id       uuid         NOT NULL UNIQUE,
    aggregate_type   varchar(255) NULL,
    aggregate_id     varchar(255) NULL,
    event_type       varchar(255) NOT NULL,
    destination      varchar(255) NOT NULL,
    destination_type varchar(32)  NOT NULL,
    payload          jsonb        NOT NULL,
    headers          jsonb        NULL,
    metadata         jsonb        NOT NULL DEFAULT '{}',
    scheduled_at     timestamptz  NULL,
    available_at     timestamptz  NOT NULL DEFAULT now(),
    state            varchar(32)  NOT NULL DEFAULT 'PENDING',
    attempt          integer      NOT NULL DEFAULT 0,
    max_attempts     integer      NOT NULL DEFAULT 20,
    claimed_at       timestamptz  NULL,
    claimed_by       varchar(255) NULL,
    published_at     timestamptz  NULL,
    last_error       text         NULL,
    error_type       varchar(500) NULL,
    created_at       timestamptz  NOT NULL DEFAULT now(),
    updated_at       timestamptz  NOT NULL DEFAULT now()
);

CREATE INDEX idx_outbox_pending ON outbox (available_at, id) WHERE state = 'PENDING';
CREATE INDEX idx_outbox_processing ON outbox (claimed_at) WHERE state = 'PROCESSING';
CREATE INDEX idx_outbox_aggregate ON outbox (aggregate_id, id)
    WHERE state IN ('PENDING', 'PROCESSING') AND aggregate_id IS NOT NULL;
CREATE INDEX idx_outbox_published ON outbox (published_at) WHERE state = 'PUBLISHED';
CREATE INDEX idx_outbox_dead_letter ON outbox (updated_at) WHERE state = 'DEAD_LETTER';

-- One row per message that was consumed: the primary key is what makes a second consumption visible.
CREATE TABLE inbox (
    message_id   varchar(255) NOT NULL,
    source       varchar(255) NOT NULL,
    processed_at timestamptz  NOT NULL DEFAULT now(),
    PRIMARY KEY (message_id, source)
);

CREATE INDEX idx_inbox_processed_at ON inbox (processed_at);

CREATE FUNCTION notify_transactional_outbox() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_notify('transactional_outbox_channel', NEW.id::text);
    RETURN NEW;
END;
$$;

CREATE TRIGGER transactional_outbox_notify
    AFTER INSERT ON outbox
    FOR EACH ROW EXECUTE FUNCTION notify_transactional_outbox();
