// Package migrationset provides the migrations of the tables, placed by the same setting as
// the store: db.schemas.inbox-outbox. It needs no pool and no relay.
package migrationset

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/google/wire"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/schema/migrator"
	"github.com/satchel-go/satchel/wiring"
)

// Set provides a *Migration from wiring.Settings and wiring.Inputs.
var Set = wire.NewSet(MigratorConfig, New)

// Migration applies and checks the migrations of one schema. It connects when it is used.
type Migration struct {
	db  *sql.DB
	cfg migrator.Config
}

// MigratorConfig places the tables where the store looks for them.
func MigratorConfig(s wiring.Settings, logger *slog.Logger) migrator.Config {
	return migrator.Config{Schema: s.Tree().DB.Schemas.InboxOutbox, Logger: logger}
}

// New returns the migrations of the database that the inputs name, and the function that
// closes its connections. The role in the URL must own the tables; a service whose role must
// not gives the migration a URL of its own, by an injector of its own.
func New(cfg migrator.Config, in wiring.Inputs) (*Migration, func(), error) {
	if in.Database.URL == "" {
		return nil, nil, fault.NewInvalid("database URL", "is empty")
	}
	connection, err := pgx.ParseConfig(string(in.Database.URL))
	if err != nil {
		return nil, nil, fault.NewInvalid("database URL", "is not one that pgx can read") // its error quotes the URL
	}
	// Settings of the pool may be in the URL; to a server they mean nothing.
	for name := range connection.RuntimeParams {
		if len(name) > 5 && name[:5] == "pool_" {
			delete(connection.RuntimeParams, name)
		}
	}
	db := stdlib.OpenDB(*connection)
	return &Migration{db: db, cfg: cfg}, func() { _ = db.Close() }, nil
}

// Apply brings the tables to the newest version, see migrator.Apply.
func (m *Migration) Apply(ctx context.Context) error { return migrator.Apply(ctx, m.db, m.cfg) }

// Verify changes nothing and reports what is not as it should be, see migrator.Verify.
func (m *Migration) Verify(ctx context.Context) error { return migrator.Verify(ctx, m.db, m.cfg) }

// Status lists the migrations and how far each got, see migrator.Status.
func (m *Migration) Status(ctx context.Context) ([]migrator.Step, error) {
	return migrator.Status(ctx, m.db, m.cfg)
}
