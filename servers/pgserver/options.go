package pgserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Environment variables that Find reads.
const (
	EnvURL   = "SATCHEL_DATABASE_URL"   // URL of a server to use; it is never stopped
	EnvBin   = "SATCHEL_POSTGRES_BIN"   // folder with the programs postgres and initdb
	EnvImage = "SATCHEL_POSTGRES_IMAGE" // container image; no other source is tried
)

// DefaultMaxConnections is enough for test processes that run side by side, each with a pool or two.
const DefaultMaxConnections = 200

// Options say what kind of server is wanted. The zero value asks for a durable server with default settings.
type Options struct {
	// Logf receives progress, such as a download and why a source was passed over. Nil discards it.
	Logf func(format string, args ...any)

	// MaxConnections is the setting max_connections. Zero means DefaultMaxConnections.
	MaxConnections int

	// Settings are further server settings, as in postgresql.conf: {"wal_level": "logical"}. They win over all others.
	// They have no effect on a given server.
	Settings map[string]string

	// Ephemeral gives up durability against a crash of the machine (fsync and full_page_writes off) for speed.
	// What was committed still survives Restart and Crash.
	Ephemeral bool

	// Image asks for a container of this image, whatever the environment names: no other source is tried. Empty leaves
	// the choice to the environment.
	Image string

	// Private passes over a given server, for tests that crash or pause the server and must not harm anybody else.
	Private bool
}

// withDefaults fills in what the caller left out.
func (o Options) withDefaults() Options {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	return o
}

// settings returns the -c arguments of the server, in a stable order.
func (o Options) settings() []string {
	all := map[string]string{
		"max_connections": strconv.Itoa(o.MaxConnections),
		// The unpacked packages come without the compiler that jit needs; off everywhere gives equal conditions.
		"jit": "off",
	}
	if o.Ephemeral {
		// Not synchronous_commit: with it off, a server that is killed forgets what it had confirmed, and tests of
		// crashes would see losses that no real server shows.
		all["fsync"], all["full_page_writes"] = "off", "off"
	}
	maps.Copy(all, o.Settings)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", fmt.Sprintf("%s=%s", name, all[name]))
	}
	return args
}
