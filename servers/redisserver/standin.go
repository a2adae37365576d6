package redisserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/alicebob/miniredis/v2"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/buildinfo"
)

// standIn starts miniredis inside this process.
func (o Options) standIn(context.Context) (*Server, error) {
	if o.Require || servers.RealRequired() {
		return nil, servers.ErrStandIn
	}
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		return nil, err
	}
	version := buildinfo.ModuleVersion("github.com/alicebob/miniredis/v2")
	i := servers.Started(kind, version, "miniredis, inside the process", mini{m})
	i.StandIn = true
	return &Server{Instance: i, URL: "redis://" + m.Addr() + "/0"}, nil
}

// mini governs the stand-in. It keeps its data and its port while it is closed.
type mini struct{ *miniredis.Miniredis }

var _ servers.Control = mini{}

func (m mini) Remove(context.Context) error {
	m.Close()
	return nil
}

func (m mini) Restart(context.Context) error {
	m.Close()
	return m.Miniredis.Restart()
}

func (m mini) Crash(context.Context) error {
	m.Close()
	return nil
}

func (m mini) Pause(context.Context) error  { return errPause }
func (m mini) Resume(context.Context) error { return errPause }

var errPause = fmt.Errorf("miniredis cannot be paused: %w", errors.ErrUnsupported)
