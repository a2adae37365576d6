package daemon

import (
	"context"
	"errors"
	"syscall"
)

// Server is a program that keeps its folder and its command line through crashes and restarts.
type Server struct {
	Folder  *Folder
	Program Program
	// Ready returns nil once the server takes clients. It must not mistake another server on the same port for this one.
	Ready func(context.Context) error
	// Orderly asks for an end that loses nothing, Quick for one that need not keep anything.
	Orderly, Quick syscall.Signal

	process *Process
}

// Start starts the program and waits until it is ready; one that does not become ready is killed.
func (s *Server) Start(ctx context.Context) error {
	process, err := Start(s.Folder, s.Program, s.Quick)
	if err != nil {
		return err
	}
	s.process = process
	if err := process.AwaitReady(ctx, s.Folder, s.Ready); err != nil {
		return errors.Join(err, process.Kill())
	}
	return nil
}

// Remove implements servers.Control.
func (s *Server) Remove(ctx context.Context) error {
	var err error
	if s.process != nil {
		err = s.process.Stop(ctx, s.Quick)
	}
	return errors.Join(err, s.Folder.Remove())
}

// Restart implements servers.Control.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.process.Stop(ctx, s.Orderly); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Crash implements servers.Control.
func (s *Server) Crash(context.Context) error { return s.process.Kill() }

// Pause implements servers.Control.
func (s *Server) Pause(context.Context) error {
	s.process.Pause()
	return nil
}

// Resume implements servers.Control.
func (s *Server) Resume(context.Context) error {
	s.process.Resume()
	return nil
}
