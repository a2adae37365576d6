package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Server is a container whose server can be asked whether it is ready.
type Server struct {
	*Container
	// Ready returns nil once the server in the container takes clients.
	Ready func(context.Context) error
}

// Run starts a container and waits until its server is ready; one that does not become ready is removed.
func Run(ctx context.Context, spec Spec, ready func(context.Context) error) (*Server, error) {
	c, err := Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	s := &Server{Container: c, Ready: ready}
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(err, c.Remove(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// await asks until the server is ready. The limit is for engines that run elsewhere than it seems, whose ports never
// appear on this machine.
func (s *Server) await(ctx context.Context) error {
	const limit, pause = 45 * time.Second, 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		err := s.Ready(ctx)
		if err == nil {
			return nil
		}
		if ended := s.ended(ctx); ended != nil {
			return ended
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w; last check: %w)%s", errNotReady, context.Cause(ctx), err, s.tail(ctx))
		case <-ticker.C:
		}
	}
}

var (
	errNotReady = errors.New("server in the container did not become ready")
	errEnded    = errors.New("server in the container ended while starting")
)

// ended returns an error once the container runs no more.
func (s *Server) ended(ctx context.Context) error {
	state, err := s.run.State(ctx)
	if err != nil || state.Running {
		return nil //nolint:nilerr // an engine that does not answer now may do so at the next look
	}
	return fmt.Errorf("%w (exit status %d)%s", errEnded, state.ExitCode, s.tail(ctx))
}

// tail returns the end of what the container printed, after ": ", or nothing.
func (s *Server) tail(ctx context.Context) string {
	const patience, size = 2 * time.Second, 1000
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	logs, err := s.run.Logs(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = logs.Close() }()
	text, _ := io.ReadAll(logs) // what came before an error is of use too
	return ": " + strings.TrimSpace(string(text[max(0, len(text)-size):]))
}

// Restart implements servers.Control.
func (s *Server) Restart(ctx context.Context) error {
	// A paused container cannot be stopped by every engine; one that is not paused refuses to be resumed.
	_ = s.Resume(ctx)
	if err := s.Shutdown(ctx); err != nil {
		return err
	}
	if err := s.Launch(ctx); err != nil {
		return err
	}
	return s.await(ctx)
}

// Crash implements servers.Control.
func (s *Server) Crash(ctx context.Context) error { return s.Kill(ctx) }
