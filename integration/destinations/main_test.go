package destinations

import (
	"context"
	"testing"

	"github.com/rcrowley/go-metrics"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/integration/internal/lab"
)

func TestMain(m *testing.M) {
	// Before anything of the Kafka client is used: its metrics leave a goroutine for the life of the process.
	metrics.UseNilMetrics = true
	redis.SetLogger(silence{})
	lab.Main(m, map[string]lab.Role{roleRelay: relayRole})
}

// silence keeps the Redis client from printing every connection that a test's outage cost.
type silence struct{}

// Printf implements the logger of the Redis client.
func (silence) Printf(context.Context, string, ...any) {}
