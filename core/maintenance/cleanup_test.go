package maintenance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
)

func TestCleanupDeletesWholeBacklogInOneRun(t *testing.T) {
	t.Parallel()
	store := &fakeStore{published: rows{expired: 25_000}, deadLetters: rows{expired: 1000}, inbox: rows{expired: 1}}
	report, err := maintenance.Cleanup{Store: store}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report.Elapsed = 0
	want := maintenance.CleanupReport{
		Published:   maintenance.TableReport{Deleted: 25_000, Batches: 26, Complete: true},
		DeadLetters: maintenance.TableReport{Deleted: 1000, Batches: 2, Complete: true},
		Inbox:       maintenance.TableReport{Deleted: 1, Batches: 1, Complete: true},
		Deleted:     26_001, Complete: true,
	}
	if report != want {
		t.Errorf("report = %+v, want %+v", report, want)
	}
	if want := []string{"published 168h0m0s 1000", "deadLetters 720h0m0s 1000", "inbox 720h0m0s 1000"}; !slices.Equal(store.calls[:3], want) {
		t.Errorf("first round = %q, want %q", store.calls[:3], want)
	}
}

// The tables take turns, so that a backlog in the first does not starve the last.
func TestCleanupTakesTurns(t *testing.T) {
	t.Parallel()
	store := &fakeStore{published: rows{expired: 4}, deadLetters: rows{expired: 2}, inbox: rows{expired: 3}}
	var order []string
	store.before = func(call string) { order = append(order, call) }
	if _, err := (maintenance.Cleanup{Store: store, Config: maintenance.Config{BatchSize: 2}}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"published", "deadLetters", "inbox", "published", "deadLetters", "inbox", "published"}
	if !slices.Equal(order, want) {
		t.Errorf("order = %q, want %q", order, want)
	}
}

func TestCleanupLocked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rows    rows
		deleted int
		batches int
	}{
		"only locked rows":                 {rows{expired: 30, locked: 30}, 0, 1},
		"locked rows beside a full batch":  {rows{expired: 40, locked: 30}, 10, 2},
		"locked rows beside more":          {rows{expired: 55, locked: 30}, 25, 3},
		"nothing":                          {rows{}, 0, 1},
		"one less than a batch":            {rows{expired: 9}, 9, 1},
		"exactly a batch":                  {rows{expired: 10}, 10, 2},
		"a store that gives more than due": {rows{expired: 20, report: func(n int) int { return n + n/10 }}, 22, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &fakeStore{inbox: tc.rows}
			report, err := maintenance.Cleanup{Store: store, Config: maintenance.Config{BatchSize: 10}}.Run(t.Context())
			want := maintenance.TableReport{Deleted: tc.deleted, Batches: tc.batches, Complete: true}
			if err != nil || report.Inbox != want {
				t.Errorf("report = %+v, %v, want %+v", report.Inbox, err, want)
			}
		})
	}
}

func TestCleanupGoesOnBesideFailures(t *testing.T) {
	t.Parallel()
	logger, logged := logs()
	store := &fakeStore{
		published:   rows{expired: 35, failAt: 3},
		deadLetters: rows{expired: 35, failAt: 2, panics: "secret payload"},
		inbox:       rows{expired: 35},
	}
	cleanup := maintenance.Cleanup{Store: store, Config: maintenance.Config{BatchSize: 10}, Logger: logger}
	report, err := cleanup.Run(t.Context())

	const text = "satchel: maintenance.deletePublished failed: broken\nsatchel: maintenance.deleteDeadLetters failed: store panicked with a string"
	if !errors.Is(err, errBroken) || err.Error() != text {
		t.Fatalf("error = %v, want %s", err, text)
	}
	if fault.Retryable(err) {
		t.Error("a panicking store is reported as retryable")
	}
	report.Elapsed = 0
	want := maintenance.CleanupReport{
		Published:   maintenance.TableReport{Deleted: 20, Batches: 2},
		DeadLetters: maintenance.TableReport{Deleted: 10, Batches: 1},
		Inbox:       maintenance.TableReport{Deleted: 35, Batches: 4, Complete: true},
		Deleted:     65,
	}
	if report != want {
		t.Errorf("report = %+v, want %+v", report, want)
	}
	if strings.Contains(err.Error()+logged(), "secret") {
		t.Error("the panic value was shown")
	}
	for _, part := range []string{"level=WARN", "published=20", "dead_letters=10", "inbox=35", "complete=false", "broken", "store panicked"} {
		if !strings.Contains(logged(), part) {
			t.Errorf("log lacks %q: %s", part, logged())
		}
	}

	// The next run goes on where this one ended.
	store.published.failAt, store.deadLetters.failAt = 0, 0
	report, err = cleanup.Run(t.Context())
	if err != nil || report.Deleted != 15+25 || !report.Complete {
		t.Errorf("second run = %+v, %v", report, err)
	}
}

func TestCleanupNegativeCountIsAnError(t *testing.T) {
	t.Parallel()
	store := &fakeStore{published: rows{report: func(int) int { return -1 }}}
	report, err := maintenance.Cleanup{Store: store}.Run(t.Context())
	var persistence *fault.Persistence
	if !errors.As(err, &persistence) || report.Published != (maintenance.TableReport{}) {
		t.Errorf("got %+v, %v", report.Published, err)
	}
}

func TestCleanupForeverLeavesTheTableAlone(t *testing.T) {
	t.Parallel()
	store := &fakeStore{published: rows{expired: 5}, deadLetters: rows{expired: 5}, inbox: rows{expired: 5}}
	cfg := maintenance.Config{DeadLetterRetention: maintenance.Forever, InboxRetention: time.Hour}
	report, err := maintenance.Cleanup{Store: store, Config: cfg}.Run(t.Context())
	if err != nil || !report.Complete || report.DeadLetters.Batches != 0 || report.Deleted != 10 {
		t.Errorf("report = %+v, %v", report, err)
	}
	if want := []string{"published 168h0m0s 1000", "inbox 1h0m0s 1000"}; !slices.Equal(store.calls, want) {
		t.Errorf("calls = %q, want %q", store.calls, want)
	}
}

// Each batch takes a second; the budget ends the run between rounds, and the slow
// first table does not cost the others their batch.
func TestCleanupTimeBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, logged := logs()
		store := &fakeStore{published: rows{expired: 1000}, deadLetters: rows{expired: 1000}, inbox: rows{expired: 1}}
		store.before = func(string) { time.Sleep(time.Second) }
		cfg := maintenance.Config{BatchSize: 10, TimeBudget: 6500 * time.Millisecond}
		report, err := maintenance.Cleanup{Store: store, Config: cfg, Logger: logger}.Run(t.Context())
		want := maintenance.CleanupReport{ // 3 s, then 2 s each, until 7 s
			Published:   maintenance.TableReport{Deleted: 30, Batches: 3},
			DeadLetters: maintenance.TableReport{Deleted: 30, Batches: 3},
			Inbox:       maintenance.TableReport{Deleted: 1, Batches: 1, Complete: true},
			Deleted:     61, Elapsed: 7 * time.Second,
		}
		if err != nil || report != want {
			t.Errorf("report = %+v, %v, want %+v", report, err, want)
		}
		if !strings.Contains(logged(), "level=WARN") {
			t.Errorf("work was left and not warned about: %s", logged())
		}
	})
}

func TestCleanupStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, logged := logs()
		store := &fakeStore{published: rows{expired: 1000}, deadLetters: rows{expired: 1000}, inbox: rows{expired: 1}}
		store.before = func(string) { time.Sleep(time.Second) }
		ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		report, err := maintenance.Cleanup{Store: store, Config: maintenance.Config{BatchSize: 10}, Logger: logger}.Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "deadline") != 1 {
			t.Errorf("error = %v, want the stop once", err)
		}
		// Three calls of the first round and one of the second; the fifth was in flight.
		if report.Published.Deleted != 20 || report.DeadLetters.Deleted != 10 || report.Inbox.Deleted != 1 || len(store.calls) != 5 {
			t.Errorf("report = %+v after %q", report, store.calls)
		}
		if !strings.Contains(logged(), "level=INFO") {
			t.Errorf("a stop is not a warning: %s", logged())
		}
	})
}

// A stop that comes when everything is done is none.
func TestCleanupStopAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	store := &fakeStore{}
	store.inbox.report = func(int) int { cancel(); return 0 }
	if report, err := (maintenance.Cleanup{Store: store}).Run(ctx); err != nil || !report.Complete {
		t.Errorf("report = %+v, %v", report, err)
	}
	// And one that came before the beginning asks the store for nothing.
	store.calls = nil
	report, err := maintenance.Cleanup{Store: store}.Run(ctx)
	if !errors.Is(err, context.Canceled) || report.Complete || len(store.calls) != 0 {
		t.Errorf("report = %+v, %v, calls %q", report, err, store.calls)
	}
}

func TestCleanupConcurrentRuns(t *testing.T) {
	t.Parallel()
	store := &fakeStore{published: rows{expired: 5000}, deadLetters: rows{expired: 300}, inbox: rows{expired: 70}}
	cleanup := maintenance.Cleanup{Store: store, Config: maintenance.Config{BatchSize: 10}}
	results := make(chan int)
	for range 4 {
		go func() {
			report, err := cleanup.Run(t.Context())
			if err != nil {
				t.Error(err)
			}
			results <- report.Deleted
		}()
	}
	total := 0
	for range 4 {
		total += <-results
	}
	if total != 5370 {
		t.Errorf("%d rows were deleted, want 5370", total)
	}
}

func TestCleanupIdleIsQuiet(t *testing.T) {
	t.Parallel()
	logger, logged := logs()
	if _, err := (maintenance.Cleanup{Store: &fakeStore{}, Logger: logger}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(logged(), "level=DEBUG") || strings.Contains(logged(), "error=") {
		t.Errorf("log = %s", logged())
	}
}
