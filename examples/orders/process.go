package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child is another process of this program.
type child struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	// said holds the last line of its standard output that nobody has taken; it is
	// closed with that.
	said chan string
	// ended is closed once it is gone; err tells how, then.
	ended chan struct{}
	err   error
}

// start runs this program as another process with a subcommand. The child ends by
// itself when its standard input closes, and so also when this process is killed.
func start(ctx context.Context, name string, environment []string, arguments ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, said: make(chan string, 1), ended: make(chan struct{})}
	// Not killed when ctx ends: the conductor decides who stops when, and how.
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), self, arguments...)
	c.cmd.Env = append(os.Environ(), environment...)
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go c.watch(stdout)
	return c, nil
}

// watch reads the child's output to its end and then its exit status.
func (c *child) watch(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		select {
		case <-c.said: // only the newest counts
		default:
		}
		c.said <- strings.TrimSpace(lines.Text())
	}
	close(c.said)
	_, _ = io.Copy(io.Discard, stdout) // behind a line that was too long
	c.err = c.cmd.Wait()
	close(c.ended)
}

// kill ends the child as a crash would: SIGKILL, no chance to clean up.
func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("killing %s: %w", c.name, err)
	}
	<-c.ended
	return nil
}

// stop asks the child to finish and returns how it ended.
func (c *child) stop() error {
	_ = c.stdin.Close()
	select {
	case <-c.ended:
	case <-time.After(20 * time.Second):
		_ = c.kill()
		return fmt.Errorf("%s did not stop", c.name)
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w", c.name, c.err)
	}
	return nil
}

// gone reports whether the child has ended.
func (c *child) gone() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// whileParentLives returns a context that ends when standard input does.
func whileParentLives(ctx context.Context, stdin io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	return ctx, cancel
}
