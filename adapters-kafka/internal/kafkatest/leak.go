package kafkatest

import (
	"testing"

	"go.uber.org/goleak"
)

// VerifyNoLeak runs the tests of a package and fails when a goroutine is left. Two
// of the Kafka client's libraries leave one that nothing can stop: the metrics for
// the life of the process, and a circuit breaker that opened for ten seconds.
func VerifyNoLeak(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/rcrowley/go-metrics.(*meterArbiter).tick"),
		goleak.IgnoreAnyFunction("github.com/eapache/go-resiliency/breaker.(*Breaker).timer"),
	)
}
