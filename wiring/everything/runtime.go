// Package everything is the injector of a service with all destinations of satchel.
//
// Package wiring says what every injector guarantees, and how to write one with another
// choice of destinations.
package everything

import (
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/migrationset"
)

// Destinations configure the handlers. Of each part what its package requires is required.
type Destinations struct {
	// Kafka is the cluster; its Brokers are required.
	Kafka kafka.Config
	// Services are the functions of this process; the set may change while it runs. Required.
	Services *service.Registry
	// Service adjusts how the functions are called; the zero value has no middleware.
	Service service.Config
	// Jobs has the Redis client, which stays the application's to close.
	Jobs delayedjob.Config
	// JobOverrides replace defaults of jobs for the publisher; may be nil.
	JobOverrides delayedjob.Overrides
	// Webhook has the source of endpoints, which is required.
	Webhook webhook.Config
}

// Runtime is what [New] gives.
type Runtime struct {
	// Runtime is what every injector gives.
	wiring.Runtime
	// Jobs publishes delayed jobs.
	Jobs *delayedjob.Publisher[pgx.Tx]
	// Migration applies and verifies the tables.
	Migration *migrationset.Migration
}

// handlers is the one place where the destinations of this injector are listed.
func handlers(k *kafka.Handler, s *service.Handler, j *delayedjob.Handler, w *webhook.Handler) []delivery.Handler {
	return []delivery.Handler{k, s, j, w}
}
