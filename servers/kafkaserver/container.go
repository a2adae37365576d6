package kafkaserver

import (
	"cmp"
	"context"
	"os"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/container"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

const defaultImage = "apache/kafka:4.1.0"

// container starts a broker in a container of the local Docker engine, if there is one.
func (o Options) container(ctx context.Context) (*Server, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	image := cmp.Or(os.Getenv(EnvImage), defaultImage)
	cluster := newClusterID()
	env := environment(containerProperties(port))
	env["CLUSTER_ID"] = cluster
	spec := container.Spec{Image: image, Env: env, Port: 9092, HostPort: port, Logf: o.Logf}
	var version string
	server, err := container.Run(ctx, spec, func(ctx context.Context) (err error) {
		version, err = ready(ctx, address(port), cluster)
		return err
	})
	if err != nil {
		return nil, err
	}
	i := servers.Started(kind, version, "container of image "+image, server)
	return &Server{Instance: i, Brokers: []string{address(port)}}, nil
}
