package servers

import (
	"context"
	"fmt"
	"sync"
)

// Control ends, revives and disturbs one kind of started server. Instance calls it, one call at a time.
type Control interface {
	// Remove ends the server, quickly, and removes its data.
	Remove(context.Context) error
	// Restart ends the server in order if it runs, starts it on the same port and data, and waits until it is ready.
	Restart(context.Context) error
	// Crash ends the server as a power cut would end the program.
	Crash(context.Context) error
	// Pause keeps connections open and lets nothing answer.
	Pause(context.Context) error
	// Resume ends a pause.
	Resume(context.Context) error
}

// Instance is what all kinds of servers have in common. Its methods may be called from several goroutines.
type Instance struct {
	// Kind is what the server is: "postgres", "redis", "kafka".
	Kind string
	// Version is the server's own version, as "15.18".
	Version string
	// Source says where the server came from, as "local binaries /usr/lib/postgresql/15/bin".
	Source string
	// StandIn is true for a program that only behaves like the server.
	StandIn bool

	mu      sync.Mutex
	control Control // nil for a given server
	stopped bool
	err     error
}

// Given describes a server that somebody else runs. The packages beside this one make instances; nobody else has to.
func Given(kind, version, variable string) *Instance {
	return &Instance{Kind: kind, Version: version, Source: "given by " + variable}
}

// Started describes a server that control governs. The packages beside this one make instances; nobody else has to.
func Started(kind, version, source string, control Control) *Instance {
	return &Instance{Kind: kind, Version: version, Source: source, control: control}
}

// String is the line that a run prints about the server.
func (i *Instance) String() string {
	if i.StandIn {
		return fmt.Sprintf("%s: %s (stand-in: %s)", i.Kind, i.Version, i.Source)
	}
	return fmt.Sprintf("%s: %s (%s)", i.Kind, i.Version, i.Source)
}

// IsGiven reports whether the server was given: then Stop leaves it alone and the other methods return ErrGiven.
func (i *Instance) IsGiven() bool { return i.control == nil }

// Stop ends a started server and removes its data. A given server is left alone. Later calls return what the first did.
func (i *Instance) Stop(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.control == nil || i.stopped {
		return i.err
	}
	i.stopped = true
	if i.err = i.control.Remove(ctx); i.err != nil {
		i.err = fmt.Errorf("stop %s: %w", i.Kind, i.err)
	}
	return i.err
}

// Restart ends the server in order, if it runs, starts it again on the same port and with the same data, and returns
// when it is ready. It also brings back a server that crashed or was paused.
func (i *Instance) Restart(ctx context.Context) error {
	return i.disturb(ctx, "restart", Control.Restart)
}

// Crash ends the server at once (SIGKILL) and leaves it down until Restart. What the server had handed to the operating
// system survives, as it does when a program dies; a power cut of the machine is not simulated.
func (i *Instance) Crash(ctx context.Context) error {
	return i.disturb(ctx, "crash", Control.Crash)
}

// Pause freezes the server: connections stay open, new ones may even be accepted by the kernel, and nothing answers.
// To a client it looks like a network that drops everything.
func (i *Instance) Pause(ctx context.Context) error {
	return i.disturb(ctx, "pause", Control.Pause)
}

// Resume continues a paused server.
func (i *Instance) Resume(ctx context.Context) error {
	return i.disturb(ctx, "resume", Control.Resume)
}

func (i *Instance) disturb(ctx context.Context, what string, do func(Control, context.Context) error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.control == nil:
		return fmt.Errorf("%s %s: %w", what, i.Kind, ErrGiven)
	case i.stopped:
		return fmt.Errorf("%s %s: %w", what, i.Kind, ErrStopped)
	}
	if err := do(i.control, ctx); err != nil {
		return fmt.Errorf("%s %s: %w", what, i.Kind, err)
	}
	return nil
}
