//go:build wireinject

package migrationonly

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/migrationset"
)

// New returns the migrations of the database in the inputs, placed by the tree, and the
// function that closes its connections. Of the inputs Database.URL and Logger are used.
func New(tree config.Tree, in wiring.Inputs) (*migrationset.Migration, func(), error) {
	panic(wire.Build(wiring.Configuration, migrationset.Set))
}
