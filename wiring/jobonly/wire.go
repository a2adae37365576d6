//go:build wireinject

package jobonly

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/jobset"
)

// New puts a service together that delivers delayed jobs. The second result releases
// everything but the client in cfg; call it once, also after [wiring.App.Run] failed.
func New(tree config.Tree, in wiring.Inputs, cfg delayedjob.Config, overrides delayedjob.Overrides) (*Runtime, func(), error) {
	panic(wire.Build(wiring.Base, jobset.Set, jobset.Publishing, handlers, wire.Struct(new(Runtime), "*")))
}
