//go:build wireinject

package serviceonly

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/serviceset"
)

// New puts a service together that delivers to the functions in registry. The second result
// releases everything; call it once, also after [wiring.App.Run] failed.
func New(tree config.Tree, in wiring.Inputs, registry *service.Registry, cfg service.Config) (*wiring.Runtime, func(), error) {
	panic(wire.Build(wiring.Base, serviceset.Set, handlers))
}
