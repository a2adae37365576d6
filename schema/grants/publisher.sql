-- For a service that publishes and consumes. SELECT (id) is what INSERT ... RETURNING id needs; the sequence feeds the id.
GRANT USAGE ON SCHEMA messaging TO app_publisher;
GRANT INSERT, SELECT (id) ON messaging.outbox TO app_publisher;
GRANT USAGE ON SEQUENCE messaging.outbox_id_seq TO app_publisher;
GRANT INSERT ON messaging.inbox TO app_publisher;
