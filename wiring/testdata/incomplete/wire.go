//go:build wireinject

// Package incomplete forgets the configuration of its destination.
package incomplete

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/delivery"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/kafkaset"
)

func handlers(h *kafka.Handler) []delivery.Handler { return []delivery.Handler{h} }

// New has no kafka.Config.
func New(tree config.Tree, in wiring.Inputs) (*wiring.Runtime, func(), error) {
	panic(wire.Build(wiring.Base, kafkaset.Set, handlers))
}
