package redisserver

import (
	"context"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// Environment variables that Find reads, beside servers.EnvRequireReal.
const (
	EnvURL   = "SATCHEL_REDIS_URL"   // URL of a server to use, redis://HOST:PORT/DATABASE; it is never stopped
	EnvImage = "SATCHEL_REDIS_IMAGE" // container image; no other source is tried
)

const kind = "redis"

// Options say what kind of server is wanted. The zero value takes a stand-in when there is nothing better.
type Options struct {
	// Logf receives why a source was passed over. Nil discards it.
	Logf func(format string, args ...any)

	// Require refuses the stand-in, as SATCHEL_REQUIRE_REAL=1 does.
	Require bool

	// Private passes over a given server, for tests that crash or pause the server and must not harm anybody else.
	Private bool
}

// Server is a Redis server that may be used. See servers.Instance for Stop, Restart, Crash, Pause and Resume.
type Server struct {
	// Instance is what all kinds of servers have in common.
	*servers.Instance

	// URL is a connection URL, redis://127.0.0.1:PORT/0 for a started server.
	URL string
}

// Find returns the first server that a source has, ready to be used. The caller stops it, given or not.
//
// Without any, the error matches servers.ErrUnavailable, and servers.ErrStandIn too when a stand-in was refused. It
// never holds the URL that the environment gave. Cancelling ctx has no effect on a server that was returned.
func Find(ctx context.Context, o Options) (*Server, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	container := sources.Source[*Server]{Name: "container", Find: o.container}
	switch {
	case os.Getenv(EnvURL) != "" && !o.Private:
		return sources.First(ctx, o.Logf, sources.Source[*Server]{Name: EnvURL, Find: o.given})
	case os.Getenv(EnvImage) != "":
		return sources.First(ctx, o.Logf, container)
	}
	return sources.First(ctx, o.Logf,
		sources.Source[*Server]{Name: "local redis-server", Find: o.local},
		container,
		sources.Source[*Server]{Name: "miniredis", Find: o.standIn},
	)
}

func url(port int) string { return fmt.Sprintf("redis://127.0.0.1:%d/0", port) }
