package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// ErrEnded tells that a server ended instead of becoming ready.
var ErrEnded = errors.New("server ended while starting")

// AwaitReady calls check until it returns nil, the process ends, or ctx does. The error carries the last check's error
// and the end of the server's log.
func (p *Process) AwaitReady(ctx context.Context, f *Folder, check func(context.Context) error) error {
	const pause = 20 * time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%w (%s): %s", ErrEnded, p.status(), f.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("server did not become ready (%w; last check: %w): %s", context.Cause(ctx), err, f.LogTail())
		case <-ticker.C:
		}
	}
}

// status words the way the process ended, once it has.
func (p *Process) status() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

// Run runs a program in the folder until it ends by itself, and kills it when ctx ends first. It is for the programs
// that prepare a server's data. The error holds the end of the log.
func Run(ctx context.Context, f *Folder, program Program) error {
	p, err := Start(f, program, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("%s: %w: %s", filepath.Base(program.Path), p.err, f.LogTail())
		}
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s: %w", filepath.Base(program.Path), context.Cause(ctx)), p.Kill())
	}
}
