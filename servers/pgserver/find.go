package pgserver

import (
	"context"
	"errors"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// Server is a PostgreSQL server that may be used. See servers.Instance for Stop, Restart, Crash, Pause and Resume.
type Server struct {
	// Instance is what all kinds of servers have in common.
	*servers.Instance

	// URL is a connection URL for a superuser, or for whomever SATCHEL_DATABASE_URL names.
	URL string
	// Programs is the folder of the server's programs, pg_dump among them, and Libraries
	// where these find their libraries if they are not installed; both are empty for a
	// server that was not started from programs on this machine.
	Programs, Libraries string
}

const kind = "postgres"

// Find returns the first server that a source has, ready to be used. The caller stops it, given or not.
//
// Without any, the error matches servers.ErrUnavailable and holds the reason of every source. It never holds the URL
// that the environment gave. Cancelling ctx ends the search; it has no effect on a server that was returned.
func Find(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	container := sources.Source[*Server]{Name: "container", Find: o.container}
	switch {
	case o.Image != "":
		return sources.First(ctx, o.Logf, container)
	case os.Getenv(EnvURL) != "" && !o.Private:
		return sources.First(ctx, o.Logf, sources.Source[*Server]{Name: EnvURL, Find: o.given})
	case os.Getenv(EnvImage) != "" && os.Getenv(EnvBin) == "":
		return sources.First(ctx, o.Logf, container)
	}
	return sources.First(ctx, o.Logf,
		sources.Source[*Server]{Name: "local binaries", Find: o.local},
		container,
		sources.Source[*Server]{Name: "Debian packages", Find: o.debian},
		sources.Source[*Server]{Name: "embedded-postgres", Find: o.embedded},
	)
}

// ErrNoBinaries tells that no folder with postgres and initdb was found.
var ErrNoBinaries = errors.New("no folder with the programs postgres and initdb")
