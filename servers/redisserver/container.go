package redisserver

import (
	"cmp"
	"context"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/container"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

const defaultImage = "redis:7"

// container starts a server in a container of the local Docker engine, if there is one.
func (o Options) container(ctx context.Context) (*Server, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	image := cmp.Or(os.Getenv(EnvImage), defaultImage)
	// Protected mode would refuse clients from outside the container; the port is open to this machine only.
	spec := container.Spec{
		Image: image,
		Cmd: []string{
			"redis-server", "--protected-mode", "no", "--appendonly", "yes", "--appendfsync", "no", "--save", "",
		},
		Port:     6379,
		HostPort: port,
		Logf:     o.Logf,
	}
	var version string
	server, err := container.Run(ctx, spec, func(ctx context.Context) (err error) {
		version, err = ask(ctx, url(port))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Server{Instance: servers.Started(kind, version, "container of image "+image, server), URL: url(port)}, nil
}
