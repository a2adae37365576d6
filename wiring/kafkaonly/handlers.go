// Package kafkaonly is the injector of a service that delivers to Kafka and to nothing else.
//
// Package wiring says what every injector guarantees, and how to write one with another
// choice of destinations.
package kafkaonly

import (
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

// handlers is the one place where the destinations of this injector are listed.
func handlers(h *kafka.Handler) []delivery.Handler { return []delivery.Handler{h} }
