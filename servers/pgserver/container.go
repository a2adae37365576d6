package pgserver

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/container"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// defaultImage is the official image; a project that has another one names it by EnvImage.
const defaultImage = "postgres:17"

// container starts a server in a container of the local Docker engine, if there is one.
func (o Options) container(ctx context.Context) (*Server, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	image := cmp.Or(o.Image, os.Getenv(EnvImage), defaultImage)
	spec := container.Spec{
		Image:    image,
		Env:      map[string]string{"POSTGRES_HOST_AUTH_METHOD": "trust", "POSTGRES_INITDB_ARGS": "--encoding=UTF8 --locale=C"},
		Cmd:      append([]string{"postgres"}, o.settings()...),
		Port:     5432,
		HostPort: port,
		Logf:     o.Logf,
		// A fast shutdown; TERM would wait for the clients to leave.
		StopSignal: "SIGINT",
	}
	var version string
	// The image starts a server on a Unix socket first, to fill its data folder; only the real one answers on TCP.
	server, err := container.Run(ctx, spec, func(ctx context.Context) (err error) {
		version, err = ask(ctx, loopbackURL(port))
		return err
	})
	if err != nil {
		return nil, err
	}
	if version == "" {
		return nil, errors.Join(errors.New("the server does not tell its version"), server.Remove(ctx))
	}
	return &Server{Instance: servers.Started(kind, version, "container of image "+image, server), URL: loopbackURL(port)}, nil
}
