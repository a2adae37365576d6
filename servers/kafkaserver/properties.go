package kafkaserver

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// address is HOST:PORT of the loopback interface.
func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// common are the settings of a single node, whatever it runs in: one copy of everything, small internal topics, no wait
// for further members before a new consumer group begins, and a short session, since a broker that was killed cannot
// come back before its old session has ended.
func common() map[string]string {
	return map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          "1",
		"controller.listener.names":                        "CONTROLLER",
		"num.partitions":                                   strconv.Itoa(DefaultPartitions),
		"auto.create.topics.enable":                        "true",
		"group.initial.rebalance.delay.ms":                 "0",
		"broker.session.timeout.ms":                        "3000",
		"broker.heartbeat.interval.ms":                     "500",
		"offsets.topic.num.partitions":                     "4",
		"offsets.topic.replication.factor":                 "1",
		"transaction.state.log.num.partitions":             "4",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.num.partitions":     "4",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
	}
}

// localProperties are the settings of a broker that runs beside us.
func localProperties(data string, port, controller int) map[string]string {
	p := common()
	maps.Copy(p, map[string]string{
		"log.dirs":                       data,
		"listeners":                      "PLAINTEXT://" + address(port) + ",CONTROLLER://" + address(controller),
		"advertised.listeners":           "PLAINTEXT://" + address(port),
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.quorum.voters":       "1@" + address(controller),
	})
	return p
}

// containerProperties are the settings of a broker in a container: clients reach it through a port of this machine,
// the broker reaches itself inside.
func containerProperties(port int) map[string]string {
	p := common()
	maps.Copy(p, map[string]string{
		"listeners":                      "PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093,INSIDE://127.0.0.1:9094",
		"advertised.listeners":           "PLAINTEXT://" + address(port) + ",INSIDE://127.0.0.1:9094",
		"inter.broker.listener.name":     "INSIDE",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT",
		"controller.quorum.voters":       "1@127.0.0.1:9093",
	})
	return p
}

// file writes the properties as Kafka's configuration file.
func file(properties map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		_, _ = fmt.Fprintf(&text, "%s=%s\n", name, properties[name])
	}
	return text.String()
}

// environment writes the properties as the variables that the container image turns into its configuration file.
func environment(properties map[string]string) map[string]string {
	env := make(map[string]string, len(properties))
	for name, value := range properties {
		env["KAFKA_"+strings.ToUpper(strings.ReplaceAll(name, ".", "_"))] = value
	}
	return env
}

// newClusterID makes a random id in Kafka's spelling of a UUID. Its first character is a letter: a leading hyphen would
// look like an option.
func newClusterID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x3f           // A to P
	return base64.RawURLEncoding.EncodeToString(id[:])
}
