package wiring

import (
	"github.com/google/wire"

	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/postgres/scheduler"
	"github.com/satchel-go/satchel/postgres/sqltx"
	"github.com/satchel-go/satchel/postgres/sqlxtx"
)

// The sets of providers. They need a config.Tree and [Inputs]; Relays needs a
// []delivery.Handler too.
var (
	// Configuration validates the tree and provides the logger.
	Configuration = wire.NewSet(NewSettings, NewLogger)
	// Store is the pool and the table of entries on it.
	Store = wire.NewSet(NewPool, PostgresConfig, postgres.NewStore)
	// Listener wakes relays, nil under the strategy POLLING.
	Listener = wire.NewSet(NewListener)
	// Relays are the relay instances of the process.
	Relays = wire.NewSet(RelayConfig, NewRelays)
	// Maintenance runs recovery and cleanup on schedule.
	Maintenance = wire.NewSet(SchedulerConfig, scheduler.New)
	// Publishing is publisher and inbox for transactions of pgx.
	Publishing = wire.NewSet(OutboxConfig, PgxConfig, pgxtx.NewPublisher, pgxtx.NewProcessor)
	// SQLPublishing is publisher and inbox for transactions of database/sql. It
	// needs no pool.
	SQLPublishing = wire.NewSet(OutboxConfig, SQLConfig, sqltx.NewPublisher, sqltx.NewProcessor)
	// SQLXPublishing is publisher and inbox for transactions of sqlx. It needs no
	// pool.
	SQLXPublishing = wire.NewSet(OutboxConfig, SQLConfig, sqlxtx.NewPublisher, sqlxtx.NewProcessor)

	// Base is everything but the destinations: a [Runtime].
	Base = wire.NewSet(Configuration, Store, Listener, Relays, Maintenance, Publishing, NewApp,
		wire.Struct(new(Runtime), "*"))
)
