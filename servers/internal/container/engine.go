// Package container runs a server in a container of a local Docker engine, through testcontainers-go.
//
// Only an engine on a Unix socket is used: its containers are reached on this machine's loopback interface, on a port
// chosen beforehand. A remote engine is left alone, since nothing may connect to another machine unasked.
package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// ErrNoEngine tells that no local Docker engine answers.
var ErrNoEngine = errors.New("no local Docker engine answers")

// defaultSocket is where an engine listens when DOCKER_HOST says nothing.
const defaultSocket = "/var/run/docker.sock"

// Ping asks the engine whether it is there, for two seconds at most: a machine without Docker must not wait.
func Ping(ctx context.Context) error {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	socket := defaultSocket
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		path, local := strings.CutPrefix(host, "unix://")
		if !local {
			return fmt.Errorf("%w: DOCKER_HOST names no Unix socket", ErrNoEngine)
		}
		socket = path
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/_ping", nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		var wrapped *url.Error // names an address that means nothing to a reader
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: status %d", ErrNoEngine, response.StatusCode)
	}
	return nil
}
