-- The demonstration's own tables, beside satchel's outbox and inbox.

-- The shop's business rows.
CREATE TABLE orders (
    id         text PRIMARY KEY,
    state      text NOT NULL,
    cents      bigint NOT NULL
);

-- What the shop meant to tell the world, written in the transactions that publish it
-- and read by nobody but the final count: the truth to compare with.
CREATE TABLE order_events (
    order_id    text NOT NULL,
    seq         integer NOT NULL,
    destination text NOT NULL,
    PRIMARY KEY (order_id, seq)
);

-- Orders that the shop rolled back on purpose, noted afterwards.
CREATE TABLE rolled_back (
    order_id text PRIMARY KEY
);

-- The consumer's effect. Nothing here is unique: if a message is applied twice, only
-- the inbox has failed, and the count shows it.
CREATE TABLE applied (
    order_id    text NOT NULL,
    seq         integer NOT NULL,
    destination text NOT NULL,
    in_order    boolean NOT NULL
);
CREATE INDEX applied_order ON applied (order_id);

-- Messages that were delivered again and dropped, and what recognised them.
CREATE TABLE duplicates (
    message_id  text NOT NULL,
    dropped_by  text NOT NULL,
    seen_at     timestamptz NOT NULL DEFAULT now()
);
