package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	roleVariable   = "SATCHEL_TEST_ROLE"
	ordersVariable = "SATCHEL_TEST_ORDERS"
)

// Role is what a child process does. Its context ends with SIGTERM. orders is what [Start] was given, as JSON; say
// passes a line to the parent.
type Role func(ctx context.Context, orders []byte, say func(string)) error

// act plays a role in a child process.
func act(name string, roles map[string]Role) int {
	role, ok := roles[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown role", name)
		return 2
	}
	go func() { // the parent holds the other end for as long as it lives
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Println(line)
	}
	if err := role(ctx, []byte(os.Getenv(ordersVariable)), say); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return 0
}

// Child is a process that plays a role.
type Child struct {
	t     testing.TB
	role  string
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
	ended chan struct{}
	err   error // valid once ended is closed
	noise strings.Builder
}

// Start starts a child. It is killed at the end of the test if it still runs.
func Start(t testing.TB, role string, orders any) *Child {
	t.Helper()
	text, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{t: t, role: role, cmd: exec.CommandContext(context.WithoutCancel(t.Context()), self), lines: make(chan string, 1024), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role, ordersVariable+"="+string(text))
	c.cmd.Stderr = &c.noise
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			select {
			case c.lines <- s.Text():
			default: // nobody waits for so many
			}
		}
		c.err = c.cmd.Wait()
		_ = c.stdin.Close()
	}()
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() && c.noise.Len() > 0 {
			t.Logf("child %s: %.4000s", role, c.noise.String())
		}
	})
	return c
}

// Kill ends the child by SIGKILL and returns when it is gone.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // fails only if it has ended
	<-c.ended
}

// Terminate sends SIGTERM and returns what became of the child.
func (c *Child) Terminate() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	Receive(c.t, "the end of child "+c.role, c.ended)
	return c.err
}

// Ended returns a channel that is closed when the child has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// ExitCode waits for the end and returns the code, -1 after a signal.
func (c *Child) ExitCode() int {
	c.t.Helper()
	Receive(c.t, "the end of child "+c.role, c.ended)
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// Said waits for a line that begins with a word and returns the rest of it.
func (c *Child) Said(word string) string {
	c.t.Helper()
	for {
		select {
		case line := <-c.lines:
			if rest, ok := strings.CutPrefix(line, word); ok {
				return strings.TrimSpace(rest)
			}
		case <-c.ended:
			c.t.Fatalf("child %s ended and never said %q: %v %.2000s", c.role, word, c.err, c.noise.String())
		}
	}
}
