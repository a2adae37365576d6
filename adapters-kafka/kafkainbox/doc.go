// Package kafkainbox processes records of Apache Kafka once each: a consumer group
// whose work runs in a database transaction together with the inbox marker of the
// message, so that a record that comes again does nothing.
//
//	consumer, err := kafkainbox.New(kafkainbox.Config[pgx.Tx]{
//		Connection: kafka.Connection{Brokers: []string{"kafka-1:9092"}},
//		Group:      "billing",
//		Topics:     []string{"orders"},
//		Processor:  processor, // an inbox.Processor of the same database
//		InTx: func(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
//			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return fn(ctx, tx) })
//		},
//		Work: func(ctx context.Context, tx pgx.Tx, m kafka.Message) error {
//			return bill(ctx, tx, m.Value)
//		},
//	})
//	...
//	err = consumer.Run(ctx)
//
// For each record: a transaction begins; the message id from the record's header is
// recorded under the source "group/topic"; if it is new, Work runs with the sender's
// propagation context restored; the transaction commits; only then is the offset
// marked. A record that is known already is marked without calling Work.
//
// # Guarantees
//
// The effects of Work in its database happen once per message id and source, however
// often the record is delivered or sent. Records of one partition are processed in
// order, one at a time: a record that has to be tried again holds back those behind
// it. Nothing is skipped: a record is processed, stored in a dead-letter topic, or it
// ends Run.
//
// A rebalance or the end of Run ends Work's context. The transaction then rolls back,
// unless it commits before it notices, and the record comes again, here or elsewhere.
//
// # Not guaranteed
//
// Effects of Work outside the transaction. Order across partitions. Duplicates that
// arrive after the inbox marker was removed by retention.
//
// # What an error of Work means
//
//	any error                   tried again after a pause, up to MaxAttempts times; then
//	                            the record has failed
//	a panic                     the same
//	delivery.Permanent(err)     the record has failed at once
//	delivery.RetryAfter(err, d) tried again, not before d has passed
//	delivery.Unavailable(err),  tried again after a pause for as long as it takes; not
//	delivery.Unresolvable(err)  counted
//	a retryable fault of a      the same: a database that is down, a deadlock
//	satchel store
//
// A transaction that cannot begin is not counted either. A commit that fails is, unless
// it says that it is retryable.
//
// A record without a usable message id, which something else than satchel sent, has
// failed without being tried.
//
// A failed record is stored in the topic that DeadLetterTopic gives, as it came, with
// these headers added, and processing goes on:
//
//	satchel-dead-letter-reason      no-message-id, refused or attempts-exhausted
//	satchel-dead-letter-error       the last error, cut to 500 characters
//	satchel-dead-letter-attempts    how often it was tried
//	satchel-dead-letter-group       the consumer group, and where the record came from:
//	satchel-dead-letter-topic, -partition, -offset
//
// After a crash it can be there twice. The text of the error is that of Work: keep
// secrets out of it. Without DeadLetterTopic, or when the record cannot be stored
// there, Run returns a *[RecordError], and the record is the first of the next run.
package kafkainbox
