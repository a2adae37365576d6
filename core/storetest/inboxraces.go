package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

var inboxRaceChecks = []check{
	{"a second transaction waits and skips after a commit", nothing, waitsForCommit},
	{"a second transaction waits and runs after a rollback", nothing, waitsForRollback},
	{"a wait ends with its context", nothing, waitEndsWithContext},
	{"of many at once one runs", nothing, oneOfMany},
}

// onceResult is what a Once in another goroutine came to.
type onceResult struct {
	ran bool
	err error
}

// onceLater starts a Once in a transaction of its own, commits it, and gives the second
// transaction time to reach its wait.
func (e *env) onceLater(ctx context.Context, m inbox.Message) <-chan onceResult {
	e.Helper()
	tx := e.begin()
	done := make(chan onceResult, 1)
	go func() {
		ran, err := tx.Once(ctx, m, func(context.Context) error { return nil })
		if err == nil {
			err = tx.Commit(ctx)
		}
		done <- onceResult{ran, err}
	}()
	select {
	case r := <-done:
		e.Fatalf("once did not wait for the open transaction: %v, %v", r.ran, r.err)
	case <-time.After(100 * time.Millisecond):
	}
	return done
}

func waitsForCommit(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	first := e.begin()
	e.once(first, m)
	second := e.onceLater(e.ctx, m)
	e.must(first.Commit(e.ctx), "commit")
	r := <-second
	e.must(r.err, "second transaction")
	e.equal("second ran", r.ran, false)
}

func waitsForRollback(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	first := e.begin()
	e.once(first, m)
	second := e.onceLater(e.ctx, m)
	e.must(first.Rollback(e.ctx), "rollback")
	r := <-second
	e.must(r.err, "second transaction")
	e.equal("second ran", r.ran, true)
	e.inTx(func(tx Tx) { e.equal("third ran", e.once(tx, m), false) })
}

func waitEndsWithContext(e *env) {
	m := inbox.Message{ID: "1", Source: "billing"}
	first := e.begin()
	e.once(first, m)
	ctx, cancel := context.WithCancel(e.ctx)
	second := e.onceLater(ctx, m)
	cancel()
	r := <-second
	var failure *fault.Persistence
	if r.ran || !errors.As(r.err, &failure) || !failure.Retryable() {
		e.Errorf("cancelled once returned %v, %v; want a retryable *fault.Persistence", r.ran, r.err)
	}
	e.must(first.Commit(e.ctx), "commit of the first")
}

// oneOfMany lets several transactions record the same messages, each in an order of
// its own, some of them rolling back: per message one committed transaction ran.
func oneOfMany(e *env) {
	const workers = 6
	for round := range rounds(8) {
		m := inbox.Message{ID: fmt.Sprint(round), Source: "race"}
		var committed atomic.Int32
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				tx, err := e.Begin(e.ctx)
				if err != nil {
					e.Errorf("begin: %v", err)
					return
				}
				ran, err := tx.Once(e.ctx, m, func(context.Context) error { return nil })
				if err != nil || w == round%workers {
					_ = tx.Rollback(e.ctx)
					if err != nil {
						e.Errorf("once: %v", err)
					}
					return
				}
				if err := tx.Commit(e.ctx); err != nil {
					e.Errorf("commit: %v", err)
				} else if ran {
					committed.Add(1)
				}
			})
		}
		wg.Wait()
		e.equal("transactions that ran the work and committed", committed.Load(), 1)
	}
}
