package migrator

import (
	"log/slog"
)

// Config says where the tables live and how Apply and Verify behave. The zero value is usable.
type Config struct {
	// Schema is the schema that holds the tables. It is created when it is missing and becomes the only one that the
	// migrations see. Empty means the connection's default schema, which is the first existing one of its search_path.
	// A name that is not one usable identifier is refused with a [*SchemaNameError].
	Schema string

	// Baseline adopts tables that another tool made: every migration up to and including this version (the digits that
	// begin its file name) is taken as applied. It is used only while satchel_revisions is empty or missing. Empty, the
	// default, makes Apply refuse such tables with [ErrUnknownTables].
	Baseline string

	// LockAttempts is how often a migration is tried that cannot get its table lock within a second; the pause between
	// two attempts doubles from one second up to 30. Zero means [DefaultLockAttempts], about three minutes; at most
	// [MaxLockAttempts].
	LockAttempts int

	// AllowDisabledNotify makes Verify accept a disabled trigger transactional_outbox_notify; see [DisableNotify].
	AllowDisabledNotify bool

	// Logger receives one line per migration and one per retry. Default: none.
	Logger *slog.Logger
}

// Default and bound of [Config].
const (
	// DefaultLockAttempts is the default of LockAttempts.
	DefaultLockAttempts = 10
	// MaxLockAttempts is the largest LockAttempts: a bit more than eight hours.
	MaxLockAttempts = 1000
)

// Validate returns a [*ConfigError] or a [*SchemaNameError], or nil. It looks at nothing but the fields.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns a copy of c with every default filled in, or the reason why c cannot be used.
func (c Config) withDefaults() (Config, error) {
	if c.Schema != "" {
		if err := checkSchemaName(c.Schema); err != nil {
			return c, err
		}
	}
	if c.LockAttempts < 0 || c.LockAttempts > MaxLockAttempts {
		return c, &ConfigError{Field: "lock attempts", Reason: "are negative or more than 1000"}
	}
	if c.LockAttempts == 0 {
		c.LockAttempts = DefaultLockAttempts
	}
	if c.Baseline != "" && !knownVersion(c.Baseline) {
		return c, &ConfigError{Field: "baseline", Reason: "is not the version of a migration"}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
