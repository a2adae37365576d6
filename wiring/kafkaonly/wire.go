//go:build wireinject

package kafkaonly

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/kafkaset"
)

// New puts a service together that delivers to Kafka. The second result releases everything;
// call it once, also after [wiring.App.Run] failed.
func New(tree config.Tree, in wiring.Inputs, cfg kafka.Config) (*wiring.Runtime, func(), error) {
	panic(wire.Build(wiring.Base, kafkaset.Set, handlers))
}
