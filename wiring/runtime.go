package wiring

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres"
)

// Runtime is what an injector gives to an application, beside what its destinations add.
type Runtime struct {
	// App runs relays, maintenance and the listener.
	App *App
	// Publisher writes entries in the application's transactions.
	Publisher *outbox.Publisher[pgx.Tx]
	// Processor is the inbox, for transactions of the application.
	Processor *inbox.Processor[pgx.Tx]
	// Pool may be used by the application as well. The injector's cleanup closes it.
	Pool *pgxpool.Pool
	// Store is the table of entries, for further relays or maintenance by hand.
	Store *postgres.Store
}
