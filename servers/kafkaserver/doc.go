// Package kafkaserver finds a Kafka broker for tests and demonstrations, or starts one.
//
// Find tries, in this order:
//
//  1. the brokers that SATCHEL_KAFKA_BROKERS names;
//  2. Apache Kafka 4 on this machine: the folder of jars that SATCHEL_KAFKA_HOME names, one that scripts/kafka fetched,
//     or /opt/kafka, run by the java of JAVA_HOME or PATH as a single node that is broker and controller;
//  3. a container of SATCHEL_KAFKA_IMAGE (default apache/kafka:4.1.0), when a local Docker engine answers;
//  4. kfake, a stand-in inside this process, which says that it is one and is refused with Options.Require or
//     SATCHEL_REQUIRE_REAL=1.
//
// An image that is named is used or reported: no other source is tried, except what the first two are named by.
//
// A started broker creates topics when they are first used, with DefaultPartitions partitions, and keeps one copy.
//
//	server, err := kafkaserver.Find(ctx, kafkaserver.Options{})
//	if err != nil { ... }
//	defer server.Stop(ctx)
//	producer, err := sarama.NewSyncProducer(server.Brokers, config)
//
// Guarantees: as for package servers. Restart and Crash keep the port and every record that was acknowledged.
//
// Non-guarantees: a started broker takes no transport security and no credentials. The stand-in cannot be paused
// (errors.ErrUnsupported); a Crash of it is an ordinary close.
package kafkaserver
