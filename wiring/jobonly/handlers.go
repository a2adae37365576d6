// Package jobonly is the injector of a service that delivers to a queue of delayed jobs and to nothing else.
//
// Package wiring says what every injector guarantees, and how to write one with another
// choice of destinations.
package jobonly

import (
	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/delivery"
)

// handlers is the one place where the destinations of this injector are listed.
func handlers(h *delayedjob.Handler) []delivery.Handler { return []delivery.Handler{h} }
