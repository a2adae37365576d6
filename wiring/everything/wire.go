//go:build wireinject

package everything

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/jobset"
	"github.com/satchel-go/satchel/wiring/kafkaset"
	"github.com/satchel-go/satchel/wiring/migrationset"
	"github.com/satchel-go/satchel/wiring/serviceset"
	"github.com/satchel-go/satchel/wiring/webhookset"
)

// New puts a service together that delivers to every kind of destination. The second result
// releases everything; call it once, also after [wiring.App.Run] failed.
func New(tree config.Tree, in wiring.Inputs, d Destinations) (*Runtime, func(), error) {
	panic(wire.Build(
		wiring.Base,
		migrationset.Set,
		wire.FieldsOf(new(Destinations), "Kafka", "Services", "Service", "Jobs", "JobOverrides", "Webhook"),
		kafkaset.Set, serviceset.Set, jobset.Set, jobset.Publishing, webhookset.Set,
		handlers,
		wire.Struct(new(Runtime), "*"),
	))
}
