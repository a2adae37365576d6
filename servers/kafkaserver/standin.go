package kafkaserver

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/buildinfo"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// standIn starts a kfake cluster inside this process.
func (o Options) standIn(context.Context) (_ *Server, err error) {
	if o.Require || servers.RealRequired() {
		return nil, servers.ErrStandIn
	}
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "satchel-kfake-")
	if err != nil {
		return nil, err
	}
	f := &fake{port: port, data: data}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	version := buildinfo.ModuleVersion("github.com/twmb/franz-go/pkg/kfake")
	i := servers.Started(kind, version, "kfake, inside the process", f)
	i.StandIn = true
	return &Server{Instance: i, Brokers: []string{address(port)}}, nil
}

// fake governs the stand-in. Each opening is a new cluster on the same port and data.
type fake struct {
	port    int
	data    string
	cluster *kfake.Cluster // nil while it is down
}

var _ servers.Control = (*fake)(nil)

func (f *fake) open() (err error) {
	f.cluster, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(f.port),
		kfake.DataDir(f.data),
		kfake.AllowAutoTopicCreation(),
		kfake.DefaultNumPartitions(DefaultPartitions),
	)
	return err
}

// Crash implements servers.Control.
func (f *fake) Crash(context.Context) error {
	if f.cluster != nil {
		f.cluster.Close()
		f.cluster = nil
	}
	return nil
}

// Restart implements servers.Control.
func (f *fake) Restart(ctx context.Context) error {
	if err := f.Crash(ctx); err != nil {
		return err
	}
	return f.open()
}

// Remove implements servers.Control.
func (f *fake) Remove(ctx context.Context) error {
	return errors.Join(f.Crash(ctx), os.RemoveAll(f.data))
}

// Pause implements servers.Control.
func (f *fake) Pause(context.Context) error { return errPause }

// Resume implements servers.Control.
func (f *fake) Resume(context.Context) error { return errPause }

var errPause = fmt.Errorf("kfake cannot be paused: %w", errors.ErrUnsupported)
