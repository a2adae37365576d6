package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// signals receives what would otherwise end this process before its servers are stopped.
type signals struct {
	arrived chan os.Signal
	done    chan struct{}
	watch   sync.WaitGroup
}

func listen() *signals {
	const room = 8 // more than anybody sends before the first is heeded
	s := &signals{arrived: make(chan os.Signal, room), done: make(chan struct{})}
	signal.Notify(s.arrived, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	s.watch.Go(func() { watchGoRun(s.arrived, s.done) })
	return s
}

func (s *signals) close() {
	signal.Stop(s.arrived)
	close(s.done)
	s.watch.Wait()
}

// cancelled returns a context that the next signal cancels, until cancel is called.
func (s *signals) cancelled(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case sig := <-s.arrived:
			cancel(fmt.Errorf("interrupted: %s", sig))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// execute runs the command to its end, passing signals on, and returns its status.
func execute(command, env []string, s *signals, out io.Writer) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintf(out, "with: %v\n", err)
		return statusCommand
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-s.arrived:
			if !typed(sig) {
				_ = cmd.Process.Signal(sig) // it may have ended meanwhile
			}
		case err := <-ended:
			return status(err)
		}
	}
}

// typed reports whether the signal most likely comes from the keyboard: then the command, in the same foreground
// process group, has it already, and a second one could mean "at once" to it.
func typed(sig os.Signal) bool {
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = terminal.Close() }()
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == syscall.Getpgrp()
}

// status translates how the command ended.
func status(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return statusCommand
		}
		return 0
	}
	if how, ok := exit.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 128 + int(how.Signal())
	}
	return exit.ExitCode()
}
