package memstore

import (
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/relay"
)

// waker hands hints to subscribers. It has a mutex of its own, so that a hint is
// never sent while the store is locked.
type waker struct {
	mu          sync.Mutex
	subscribers []chan struct{}
}

// Waker returns a relay.Waker that hints whenever a transaction with entries commits.
func (s *Store) Waker() relay.Waker { return &s.waker }

// Subscribe implements relay.Waker. The channel is never closed.
func (w *waker) Subscribe() (hints <-chan struct{}, cancel func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subscribers = append(w.subscribers, ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.subscribers = slices.DeleteFunc(w.subscribers, func(c chan struct{}) bool { return c == ch })
	}
}

func (w *waker) hint() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.subscribers {
		select {
		case ch <- struct{}{}:
		default: // a hint is waiting already
		}
	}
}
