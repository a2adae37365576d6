package maintenance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core/maintenance"
)

// errBroken is what the fake store fails with.
var errBroken = errors.New("broken")

// fakeStore is a maintenance.Store with numbers in place of tables. Locked rows are
// there but are left out of every batch, as the port demands.
type fakeStore struct {
	mu sync.Mutex

	published, deadLetters, inbox rows
	leases                        rows
	entriesPerLease, poisonLeases int

	unsettled, broken int // what Heal finds
	healFails         bool
	healAsked         []int

	// before, if set, runs at the beginning of each call with its name.
	before func(call string)
	// calls lists the calls in order, with their arguments.
	calls []string
}

type rows struct {
	expired, locked int
	// failAt is the number of the batch that fails, from 1; 0 means none.
	failAt, batches int
	panics          any
	report          func(n int) int
}

func (r *rows) take(batch int) (int, error) {
	r.batches++
	if r.batches == r.failAt {
		if r.panics != nil {
			panic(r.panics)
		}
		return 0, errBroken
	}
	n := min(batch, r.expired-r.locked)
	r.expired -= n
	if r.report != nil {
		n = r.report(n)
	}
	return n, nil
}

func (s *fakeStore) begin(call string, args ...any) func() {
	if s.before != nil {
		s.before(call)
	}
	s.mu.Lock()
	s.calls = append(s.calls, fmt.Sprint(append([]any{call, " "}, args...)...))
	return s.mu.Unlock
}

func (s *fakeStore) Reclaim(ctx context.Context, batch, maxClaims int) (maintenance.Reclaimed, error) {
	defer s.begin("reclaim", batch, maxClaims)()
	if err := ctx.Err(); err != nil {
		return maintenance.Reclaimed{}, err
	}
	n, err := s.leases.take(batch)
	if err != nil {
		return maintenance.Reclaimed{}, err
	}
	dead := min(n, s.poisonLeases)
	s.poisonLeases -= dead
	return maintenance.Reclaimed{Leases: n, Returned: (n - dead) * s.entriesPerLease, DeadLettered: dead}, nil
}

func (s *fakeStore) Heal(ctx context.Context, window int) (maintenance.Healed, error) {
	defer s.begin("heal", window)()
	s.healAsked = append(s.healAsked, window)
	if s.healFails {
		return maintenance.Healed{}, errBroken
	}
	if err := ctx.Err(); err != nil {
		return maintenance.Healed{}, err
	}
	got := maintenance.Healed{Examined: min(window, s.unsettled), Repaired: s.broken}
	s.broken = 0
	return got, nil
}

func (s *fakeStore) DeletePublished(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "published", &s.published, age, batch)
}

func (s *fakeStore) DeleteDeadLetters(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "deadLetters", &s.deadLetters, age, batch)
}

func (s *fakeStore) DeleteInbox(ctx context.Context, age time.Duration, batch int) (int, error) {
	return s.delete(ctx, "inbox", &s.inbox, age, batch)
}

func (s *fakeStore) delete(ctx context.Context, call string, r *rows, age time.Duration, batch int) (int, error) {
	defer s.begin(call, age, batch)()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return r.take(batch)
}

// logs returns a logger and a function that returns what it wrote.
func logs() (*slog.Logger, func() string) {
	var buf bytes.Buffer
	return slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug})), buf.String
}
