// Command peers measures River and watermill-sql for the benchmarks of satchel.
//
// It is a module of its own, so that users of satchel do not download other queues, and
// a process of its own that prints measurements as JSON lines. Package benchmarks starts
// it; the database comes in the variable BENCH_PEERS_URL and should be empty.
//
// Each peer is configured as its own documentation advises for throughput, with several
// sizes of what has a size, and the best one counts:
//
//   - River: the batching completer that it uses by default; FetchCooldown 2 ms and
//     FetchPollInterval 20 ms, as its own benchmark command sets them; 500 to 2,000
//     workers. Latency is measured with these and with the defaults.
//   - watermill-sql: its queue adapters on pgx, which delete a message when it is
//     acknowledged, and its default adapters, which keep it and store an offset;
//     batches of 1,000, 1 and 2 subscribers where the adapters let them share.
package main
