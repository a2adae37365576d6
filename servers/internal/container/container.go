package container

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	dockercontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// Spec says what to run.
type Spec struct {
	Image string
	Env   map[string]string
	Cmd   []string // empty: the image's own
	Port  int      // inside the container
	// StopSignal asks the server to end. Empty: the image's own, which an image that was imported does not have, or TERM.
	StopSignal string
	// HostPort is where the port appears on 127.0.0.1. It stays the same when the container is started again.
	HostPort int
	// Logf gets the steps of testcontainers.
	Logf func(format string, args ...any)
}

// Container is a running container.
type Container struct {
	docker *testcontainers.DockerClient
	run    *testcontainers.DockerContainer
}

// startLimit bounds fetching an image and starting it: other sources are quicker than a slow registry.
const startLimit = 90 * time.Second

// sharedMemory bounds /dev/shm, in bytes. The usual 64 MB end PostgreSQL's parallel plans and index builds early.
const sharedMemory = 1 << 30

type printer func(format string, args ...any)

func (p printer) Printf(format string, args ...any) { p(format, args...) }

var _ tclog.Logger = printer(nil)

// Start runs a container and returns as soon as it runs; whether the server in it is ready is the caller's to find out.
func Start(ctx context.Context, spec Spec) (*Container, error) {
	if err := Ping(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, err
	}
	inside, err := network.ParsePort(strconv.Itoa(spec.Port) + "/tcp")
	if err != nil {
		return nil, errors.Join(err, docker.Close())
	}
	options := []testcontainers.ContainerCustomizer{
		testcontainers.WithEnv(spec.Env),
		testcontainers.WithExposedPorts(inside.String()),
		testcontainers.WithLogger(printer(spec.Logf)),
		testcontainers.WithConfigModifier(func(config *dockercontainer.Config) {
			if spec.StopSignal != "" {
				config.StopSignal = spec.StopSignal
			}
		}),
		testcontainers.WithHostConfigModifier(func(host *dockercontainer.HostConfig) {
			host.ShmSize = sharedMemory
			host.PortBindings = network.PortMap{inside: {{
				HostIP:   netip.AddrFrom4([4]byte{127, 0, 0, 1}),
				HostPort: strconv.Itoa(spec.HostPort),
			}}}
		}),
	}
	if len(spec.Cmd) > 0 {
		options = append(options, testcontainers.WithCmd(spec.Cmd...))
	}
	run, err := testcontainers.Run(ctx, spec.Image, options...)
	c := &Container{docker: docker, run: run}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("image %s: %w", spec.Image, err), c.Remove(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// Remove kills the container, and removes it and its volumes.
func (c *Container) Remove(ctx context.Context) error {
	var err error
	if c.run != nil {
		err = c.run.Terminate(ctx, testcontainers.StopTimeout(0))
	}
	return errors.Join(err, c.docker.Close())
}

// Shutdown asks the server to end, and returns when it has.
func (c *Container) Shutdown(ctx context.Context) error {
	patience := int(startLimit / time.Second)
	_, err := c.docker.ContainerStop(ctx, c.run.GetContainerID(), client.ContainerStopOptions{Timeout: &patience})
	return err
}

// Launch starts a container that was shut down or killed.
func (c *Container) Launch(ctx context.Context) error {
	_, err := c.docker.ContainerStart(ctx, c.run.GetContainerID(), client.ContainerStartOptions{})
	return err
}

// Kill ends the server by SIGKILL.
func (c *Container) Kill(ctx context.Context) error {
	_, err := c.docker.ContainerKill(ctx, c.run.GetContainerID(), client.ContainerKillOptions{Signal: "KILL"})
	return err
}

// Pause stops all processes of the container without ending them.
func (c *Container) Pause(ctx context.Context) error {
	_, err := c.docker.ContainerPause(ctx, c.run.GetContainerID(), client.ContainerPauseOptions{})
	return err
}

// Resume continues a paused container.
func (c *Container) Resume(ctx context.Context) error {
	_, err := c.docker.ContainerUnpause(ctx, c.run.GetContainerID(), client.ContainerUnpauseOptions{})
	return err
}
