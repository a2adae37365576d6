// Package destinations tests the way of an entry to real brokers and back: PostgreSQL, a relay, an adapter, Apache Kafka,
// Redis or a web server, a consumer, and what it leaves in a database.
//
// # What is tested
//
//   - A relay is killed (SIGKILL) between the broker's acknowledgement and the settlement, again and again: every entry
//     arrives, under one message id, in the order of its aggregate, and an inbox gives it its effect once.
//   - A broker goes down under load and comes back. Nothing is dead-lettered and no attempt is charged; while it is down
//     it is asked no more than its circuit breaker probes, other destinations go on, observers are told; then the
//     backlog drains in order. The same for Kafka, for one of two HTTP endpoints, and for Redis with its jobs.
//   - Propagation context, headers and raw bytes arrive as they were published. An entry for another cluster waits.
//   - Delayed jobs run once and not early, also when their entry is delivered again after they have completed.
//
// # Servers
//
// SATCHEL_DATABASE_URL is required: make test provides it. SATCHEL_KAFKA_BROKERS and SATCHEL_REDIS_URL name shared
// servers; without them the tests start their own, and tests that break a server always do. Where there is no Apache
// Kafka (scripts/kafka fetches it) an in-process stand-in is used, and named in the output of -v, unless
// SATCHEL_REQUIRE_REAL=1.
//
//	SATCHEL_STRESS=1    200 kills instead of 20, outages of 60 s instead of 5 or 10
//
// # What is not tested
//
// Clusters of several brokers, and the loss of acknowledged records by a broker whose machine loses power.
package destinations
