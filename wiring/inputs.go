package wiring

import (
	"log/slog"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/core/relay"
)

// Database says where the tables are.
type Database struct {
	// URL is the connection string of the pool, as pgx reads it; required.
	URL Secret
	// ListenURL is the connection string for notifications; empty means URL. It is needed
	// where URL leads to a pooler that lends connections per transaction. Not used under
	// the strategy POLLING.
	ListenURL Secret
}

// Inputs are what the application supplies as values, beside the configuration tree. Only
// Database.URL is required.
type Inputs struct {
	// Database says where the tables are.
	Database Database
	// Logger is given to every part; nil discards.
	Logger *slog.Logger
	// Observers are told of every delivery attempt.
	Observers []relay.Observer
	// Propagation captures context when an entry is published and restores it when it is
	// delivered; nil carries nothing.
	Propagation *propagation.Set
	// ReservedPrefix is the header prefix that applications must not use, given to the
	// publishers and to every adapter; empty means "satchel-".
	ReservedPrefix string
	// Fingerprint ties entries to a physical destination, see outbox.Config.
	Fingerprint func(t destination.Type, name string) string
}

// Prefix returns the reserved prefix in effect.
func (in Inputs) Prefix() string {
	if in.ReservedPrefix == "" {
		return outbox.DefaultReservedPrefix
	}
	return in.ReservedPrefix
}

// AdapterPrefix returns the header prefix of an adapter: the reserved one, unless the adapter's
// own configuration names another. That is refused as a *fault.Invalid, since applications
// could then publish headers which the adapter overwrites. The field names the setting.
func (in Inputs) AdapterPrefix(field, own string) (string, error) {
	if own != "" && own != in.Prefix() {
		return "", fault.NewInvalid(field, "is not the reserved prefix of the publishers")
	}
	return in.Prefix(), nil
}

// Settings is a configuration tree that was validated: [NewSettings] makes it. The zero value
// holds the defaults.
type Settings struct{ tree *config.Tree }

// NewSettings validates a tree, such as settings.Load returns, and returns all problems joined,
// each a *fault.Invalid.
func NewSettings(tree config.Tree) (Settings, error) {
	if err := tree.Validate(); err != nil {
		return Settings{}, err
	}
	return Settings{&tree}, nil
}

// Tree returns the configuration, see package config of module core.
func (s Settings) Tree() config.Tree {
	if s.tree == nil {
		return config.Default()
	}
	return *s.tree
}

// NewLogger returns the logger of the inputs, or one that discards.
func NewLogger(in Inputs) *slog.Logger {
	if in.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return in.Logger
}
