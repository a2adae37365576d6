package jobonly

import (
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/wiring"
)

// Runtime is what [New] gives.
type Runtime struct {
	// Runtime is what every injector gives.
	wiring.Runtime
	// Jobs publishes delayed jobs.
	Jobs *delayedjob.Publisher[pgx.Tx]
}
