package webhook

import "sync"

// underway counts the deliveries that have begun and not ended.
type underway struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when no delivery is left and none can begin
}

// enter reports whether a delivery may begin; leave must follow if so.
func (u *underway) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.n++
	return true
}

func (u *underway) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n--
	if u.closed && u.n == 0 {
		close(u.idle)
	}
}

// close lets no further delivery begin and returns what is closed when none is left.
func (u *underway) close() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.closed = true
		if u.n == 0 {
			close(u.idle)
		}
	}
	return u.idle
}

func (u *underway) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.n
}
