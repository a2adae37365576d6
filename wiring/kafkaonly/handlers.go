// Package kafkaonly is the injector of a service that delivers to Kafka and to nothing else.
package kafkaonly

import (
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

// handlers is the one place where the destinations of this injector are listed.
func handlers(h *kafka.Handler) []delivery.Handler { return []delivery.Handler{h} }
