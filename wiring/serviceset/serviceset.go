// Package serviceset provides the destination of functions inside the application: from a
// *service.Registry and a service.Config, a *service.Handler.
package serviceset

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// Set needs a *service.Registry and a service.Config.
var Set = wire.NewSet(service.NewHandler)
