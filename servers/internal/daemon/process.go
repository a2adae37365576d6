package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Program says what to run.
type Program struct {
	Path string
	Args []string
	// Env is the whole environment: nothing is inherited, since variables such as PGDATA or KAFKA_OPTS that a developer
	// has set would change what a test sees.
	Env []string
}

// Process is a running server. All methods may be called from several goroutines.
type Process struct {
	pid  int
	done chan struct{}
	err  error // valid after done is closed
}

// Start runs the program in the folder, with its output appended to the folder's log, as the folder's user.
// last is the signal that the kernel sends when this process dies, where the kernel can do that (Linux).
func Start(f *Folder, program Program, last syscall.Signal) (*Process, error) {
	log, err := os.OpenFile(f.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(program.Path, program.Args...)
	cmd.Dir, cmd.Env = f.Path, program.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: f.User.credential()}
	signalOnParentDeath(cmd.SysProcAttr, last)

	p := &Process{done: make(chan struct{})}
	started := make(chan error, 1)
	go p.own(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program.Path, err)
	}
	if err := f.notePID(p.pid); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}

// own starts the process and waits for it on one and the same thread: to the kernel the parent is the thread, and a Go
// thread that ended would take the server with it.
func (p *Process) own(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	p.err = cmd.Wait()
	close(p.done)
}

// PID returns the process id, also after the process has ended.
func (p *Process) PID() int { return p.pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended (nil for status 0), once Done is closed.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Stop asks the process to end by the signal, waits, and kills it and its children when ctx ends first.
// A process that ended long ago is no error, and neither is the status it ended with.
func (p *Process) Stop(ctx context.Context, ask syscall.Signal) error {
	if !p.Running() {
		return nil
	}
	// A server that was paused cannot hear; continue what there is.
	p.Resume()
	_ = syscall.Kill(p.pid, ask)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("server did not end when asked: %w", context.Cause(ctx)), p.Kill())
	}
}
