// Package serviceonly is the injector of a service that delivers to functions inside the application and to nothing else.
//
// Package wiring says what every injector guarantees, and how to write one with another
// choice of destinations.
package serviceonly

import (
	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/delivery"
)

// handlers is the one place where the destinations of this injector are listed.
func handlers(h *service.Handler) []delivery.Handler { return []delivery.Handler{h} }
