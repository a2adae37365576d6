package kafkaserver

import (
	"context"
	"os"

	"github.com/satchel-go/satchel/servers"
)

// Environment variables that Find reads, beside servers.EnvRequireReal and JAVA_HOME.
const (
	EnvBrokers = "SATCHEL_KAFKA_BROKERS" // brokers to use, HOST:PORT separated by commas; they are never stopped
	EnvHome    = "SATCHEL_KAFKA_HOME"    // folder of Kafka's jars, or of a distribution that has them in libs
	EnvImage   = "SATCHEL_KAFKA_IMAGE"   // container image, compatible with apache/kafka
)

// DefaultPartitions is the number of partitions of a topic that is created by its first use, at a started broker.
const DefaultPartitions = 4

const kind = "kafka"

// Options say what kind of broker is wanted. The zero value takes a stand-in when there is nothing better.
type Options struct {
	// Logf receives why a source was passed over. Nil discards it.
	Logf func(format string, args ...any)

	// Require refuses the stand-in, as SATCHEL_REQUIRE_REAL=1 does.
	Require bool

	// Private passes over given brokers, for tests that crash or pause the broker and must not harm anybody else.
	Private bool
}

// Server is a Kafka cluster that may be used. See servers.Instance for Stop, Restart, Crash, Pause and Resume.
type Server struct {
	*servers.Instance

	// Brokers are addresses to begin with, HOST:PORT; a started server has one.
	Brokers []string
}

// Find returns the first server that a source has, ready to be used. The caller stops it, given or not.
//
// Without any, the error matches servers.ErrUnavailable, and servers.ErrStandIn too when a stand-in was refused. It
// never holds the addresses that the environment gave. Cancelling ctx has no effect on a server that was returned.
func Find(ctx context.Context, o Options) (*Server, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if os.Getenv(EnvBrokers) != "" && !o.Private {
		return servers.First(ctx, o.Logf, servers.Source[*Server]{Name: EnvBrokers, Find: o.given})
	}
	return servers.First(ctx, o.Logf,
		servers.Source[*Server]{Name: "local Apache Kafka", Find: o.local},
		servers.Source[*Server]{Name: "container", Find: o.container},
		servers.Source[*Server]{Name: "kfake", Find: o.standIn},
	)
}
