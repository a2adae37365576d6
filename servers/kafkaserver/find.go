package kafkaserver

import (
	"context"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// Environment variables that Find reads, beside servers.EnvRequireReal and JAVA_HOME.
const (
	EnvBrokers = "SATCHEL_KAFKA_BROKERS" // brokers to use, HOST:PORT separated by commas; they are never stopped
	EnvHome    = "SATCHEL_KAFKA_HOME"    // folder of Kafka's jars, or of a distribution that has them in libs
	EnvImage   = "SATCHEL_KAFKA_IMAGE"   // container image, compatible with apache/kafka; no other source is tried
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
	// Instance is what all kinds of servers have in common.
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
	container := sources.Source[*Server]{Name: "container", Find: o.container}
	switch {
	case os.Getenv(EnvBrokers) != "" && !o.Private:
		return sources.First(ctx, o.Logf, sources.Source[*Server]{Name: EnvBrokers, Find: o.given})
	case os.Getenv(EnvImage) != "" && os.Getenv(EnvHome) == "":
		return sources.First(ctx, o.Logf, container)
	}
	return sources.First(ctx, o.Logf,
		sources.Source[*Server]{Name: "local Apache Kafka", Find: o.local},
		container,
		sources.Source[*Server]{Name: "kfake", Find: o.standIn},
	)
}
