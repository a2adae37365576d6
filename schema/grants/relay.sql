-- For a service with a relay. Day partitions are reached through outbox_archive, whose rights count.
GRANT USAGE ON SCHEMA messaging TO app_relay;
GRANT SELECT, INSERT, UPDATE, DELETE ON messaging.outbox, messaging.inbox, messaging.outbox_lease, messaging.outbox_relay,
    messaging.outbox_maintenance, messaging.outbox_archive TO app_relay;
GRANT USAGE ON SEQUENCE messaging.outbox_id_seq TO app_relay;
GRANT EXECUTE ON FUNCTION messaging.outbox_archive_maintain(integer, integer) TO app_relay;
