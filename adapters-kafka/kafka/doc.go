// Package kafka delivers outbox entries to Apache Kafka: [Handler] is the
// delivery.Handler of destination type KAFKA, built on github.com/IBM/sarama. The
// package kafkainbox beside it is the receiving side.
//
//	handler, err := kafka.NewHandler(kafka.Config{
//		Connection: kafka.Connection{Brokers: []string{"kafka-1:9093"}, TLS: &tls.Config{}},
//	})
//	...
//	defer handler.Close(ctx)
//	relay := relay.New(store, []delivery.Handler{handler}, relay.Config{})
//
// # What is sent
//
// An entry becomes one record:
//
//	topic      the entry's destination
//	key        the aggregate id; no key at all when there is none
//	value      the payload as stored: the JSON document, or the raw bytes
//	headers    in this order, so that the same entry always gives the same record:
//	           the application's own, sorted by name
//	           carrier_id     the message id, the same on every attempt
//	           event_type     the event type
//	           content_type   the content type
//	           satchel-<ns>   propagation context, sorted by namespace: the text of a JSON
//	                          string, any other JSON value as it is
//	           traceparent,   context once more under the names that W3C gave it, since
//	           tracestate,    tracing libraries look there; instead of headers of the
//	           baggage        application with these names
//	timestamp  the time of sending
//
// The names and the prefix can be configured, see [HeaderNames]. An application
// header with one of our names is sent too, before ours: the last of several counts,
// here and in other clients. [MessageOf] takes a received record apart.
//
// A payload of JSON null is sent as the text null. For the topics that
// [Config].Tombstone names it becomes a record without a value instead, which deletes
// the key from a compacted topic; such an entry needs an aggregate id.
//
// # Which partition
//
// The partitioner of the sarama configuration decides, never this package. Sarama's
// default hashes the key with FNV-1a, Java clients with murmur2: where both write a
// topic and order matters across them, or where streams are joined, use
// sarama.NewMurmur2Partitioner. Records without a key go to any partition.
//
// # Guarantees
//
// Deliver returns nil only when all in-sync replicas have acknowledged the record.
// Together with the relay, which has at most one entry of an aggregate under way,
// records of one aggregate are stored in the order of their entries, repeats apart.
// A configuration that would break this is refused by [NewHandler]: acks other than
// all, no idempotence, several requests in flight, results that are not reported.
//
// One record never fails another. Where the cluster refuses a request because of one
// of its records, every record is sent again by itself to find the one.
//
// Deliver returns when its context ends, whatever the brokers do, and Close when its
// context does.
//
// # Not guaranteed
//
// Exactly-once. An attempt without an answer in time is made again although its
// record may be stored; so is one after a crash. The record is then in the topic
// twice, with one message id, and the repeat of an entry can follow later entries of
// its aggregate if another node made it. Consumers drop what they have seen: see
// kafkainbox.
//
// Order between aggregates, or between entries without an aggregate id.
//
// Space in the topic: a record is refused for good when it is larger than the
// cluster or Producer.MaxMessageBytes allows.
//
// # What an error means for an entry
//
// The client retries passing errors itself; what it reports in the end counts:
//
//	permanent      message or record list too large, invalid record, invalid timestamp,
//	               corrupt message, a topic name that no cluster accepts, a tombstone
//	               without a key
//	unresolvable   unknown topic or partition, no right to the topic, a topic outside
//	               Config.Topics
//	unavailable    no broker reachable, no connection in the attempt's time, wrong
//	               credentials, no right to the cluster, no leader, too few in-sync
//	               replicas, the client's pause after three failures to learn about a
//	               topic or partition, a closed handler
//	retryable      everything else; also each case in which the outcome is unknown
//
// Unresolvable and unavailable cost an entry no attempt: a missing topic, a missing
// right and an outage are repaired without it, and must not turn it into a dead
// letter. A topic that will never exist therefore keeps its entries, and what follows
// them in their aggregates, waiting; watch for old entries. Verdicts are read from
// error codes and types, never from texts.
//
// The client's pause would last ten seconds, whatever happens meanwhile. When the
// cluster turns out to serve the topic, the connection is renewed and the records it
// refused are sent over the new one.
//
// # Resources
//
// One producer for all topics, connected at the first delivery, in the background; a
// second one from the first batch of 64 records or more on, of which a request waits
// 1 ms for company, unless Producer.Flush.Frequency says how long all have to wait; and
// a third one, of one record per request, from the first refused request on.
// Sarama keeps two or three goroutines for each topic that was ever sent to, until
// Close. Two goroutines of its libraries can outlive Close: one for metrics, shared
// by the process, and one for up to ten seconds after a topic was given up.
package kafka
