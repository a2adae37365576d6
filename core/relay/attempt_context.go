package relay

import (
	"context"
	"sync"
	"time"
)

// attemptContext is the context of one attempt: it ends with its parent, at its
// deadline or with the attempt, whichever is first. Most handlers return before they
// wait for anything, so its timer and its place among the children of its parent are
// made only when Done is first called: both cost more than a quick handler does.
type attemptContext struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	ended  bool
	made   context.Context // nil until it is needed
	cancel context.CancelFunc
}

// newAttemptContext returns a context that must be ended.
func newAttemptContext(parent context.Context, limit time.Duration) *attemptContext {
	deadline := time.Now().Add(limit)
	if d, ok := parent.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	return &attemptContext{parent: parent, deadline: deadline}
}

// Deadline implements context.Context.
func (c *attemptContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements context.Context.
func (c *attemptContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.make()
	return c.made.Done()
}

// Err implements context.Context. What it says once it has ended stays the same.
func (c *attemptContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil && !c.ended && c.parent.Err() == nil && time.Now().Before(c.deadline) {
		return nil
	}
	c.make()
	return c.made.Err()
}

// make makes the context that this one stands for, for those who hold mu.
func (c *attemptContext) make() {
	switch {
	case c.made != nil:
	case c.ended: // before its deadline, whatever the time is now
		c.made, c.cancel = context.WithCancel(c.parent)
		c.cancel()
	default:
		c.made, c.cancel = context.WithDeadline(c.parent, c.deadline)
	}
}

// Value implements context.Context. Once Done was called, the standard library finds
// its own context here, and needs no goroutine to wait for this one.
func (c *attemptContext) Value(key any) any {
	c.mu.Lock()
	made := c.made
	c.mu.Unlock()
	if made != nil {
		return made.Value(key)
	}
	return c.parent.Value(key)
}

// end ends the context if it has not ended yet.
func (c *attemptContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}
