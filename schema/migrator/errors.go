package migrator

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknownTables means that the schema has an outbox or inbox table, but no record of who made it. Either the
	// configured schema is the wrong one, or the tables come from another tool and [Config.Baseline] has to say so.
	ErrUnknownTables = errors.New("migrator: the tables exist but satchel_revisions has no record of them")

	// ErrNoSchema means that no schema of the connection's search_path exists, so that there is no default schema.
	ErrNoSchema = errors.New("migrator: the connection has no default schema")

	// ErrNewerDatabase means that the database has seen migrations which this version of the package does not know.
	ErrNewerDatabase = errors.New("migrator: the database was migrated by a newer version")
)

// ConfigError reports a field of Config that cannot be used. Its text reads like that of a *fault.Invalid of the core
// module, which this module does not need.
type ConfigError struct {
	Field  string // what was refused, as "lock attempts"
	Reason string // what is wrong with it, without its value
}

// Error names the field and the reason, never the value.
func (e *ConfigError) Error() string { return fmt.Sprintf("satchel: %s %s", e.Field, e.Reason) }

// sqlstateLockNotAvailable is the SQLSTATE of a lock that was not to be had within lock_timeout.
const sqlstateLockNotAvailable = "55P03"

// hasSQLState reports whether err comes from the server with the given SQLSTATE. The interface is what the errors of
// pgx and lib/pq have in common, so neither has to be imported.
func hasSQLState(err error, state string) bool {
	var server interface{ SQLState() string }
	return errors.As(err, &server) && server.SQLState() == state
}
