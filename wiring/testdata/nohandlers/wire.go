//go:build wireinject

// Package nohandlers does not say what its relays deliver to.
package nohandlers

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
)

// New lists no handlers.
func New(tree config.Tree, in wiring.Inputs) (*wiring.Runtime, func(), error) {
	panic(wire.Build(wiring.Base))
}
