package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
)

func TestRecoveryUntilAShortBatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		leases, locked, batchSize int
		reclaimed, batches        int
		batch, window             int // what the store is asked for
	}{
		"nothing to do":         {0, 0, 0, 0, 1, 20, 10_000},
		"short":                 {19, 0, 0, 19, 1, 20, 10_000},
		"exactly a batch":       {20, 0, 0, 20, 2, 20, 10_000},
		"many":                  {1005, 0, 0, 1005, 51, 20, 10_000},
		"locked ones are left":  {47, 25, 0, 22, 2, 20, 10_000},
		"smallest batch":        {3, 0, 1, 3, 4, 1, 10},
		"a batch below a lease": {3, 0, 49, 3, 4, 1, 490},
		"largest batch":         {199, 0, 10_000, 199, 1, 200, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &fakeStore{leases: rows{expired: tc.leases, locked: tc.locked}, entriesPerLease: 3, unsettled: 7}
			cfg := maintenance.Config{BatchSize: tc.batchSize, MaxClaims: 4}
			report, err := maintenance.Recovery{Store: store, Config: cfg}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			report.Elapsed = 0
			want := maintenance.RecoveryReport{
				Reclaimed: maintenance.Reclaimed{Leases: tc.reclaimed, Returned: tc.reclaimed * 3},
				Batches:   tc.batches, Complete: true, Healed: maintenance.Healed{Examined: 7},
			}
			if report != want {
				t.Errorf("report = %+v, want %+v", report, want)
			}
			asked := slices.Compact(slices.Clone(store.calls))
			if want := calls(tc.batch, 4, tc.window); !slices.Equal(asked, want) {
				t.Errorf("calls = %q, want %q", asked, want)
			}
			if len(store.healAsked) != 1 {
				t.Errorf("%d windows of healing, want 1", len(store.healAsked))
			}
		})
	}
}

func calls(batch, maxClaims, window int) []string {
	var s fakeStore
	s.begin("reclaim", batch, maxClaims)()
	s.begin("heal", window)()
	return s.calls
}

func TestRecoveryWarnsOfDeadLetters(t *testing.T) {
	t.Parallel()
	logger, logged := logs()
	store := &fakeStore{leases: rows{expired: 3}, poisonLeases: 1, entriesPerLease: 2}
	report, err := maintenance.Recovery{Store: store, Logger: logger}.Run(t.Context())
	if err != nil || report.Reclaimed != (maintenance.Reclaimed{Leases: 3, Returned: 4, DeadLettered: 1}) {
		t.Fatalf("report = %+v, %v", report, err)
	}
	if !strings.Contains(logged(), "level=WARN") || !strings.Contains(logged(), "dead_lettered=1") {
		t.Errorf("log = %s", logged())
	}
	if want := "reclaim 20 5"; store.calls[0] != want {
		t.Errorf("call = %q, want the default %q", store.calls[0], want)
	}
}

func TestRecoveryLogLevels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		store *fakeStore
		level string
	}{
		"idle":             {&fakeStore{unsettled: 5}, "DEBUG"},
		"leases":           {&fakeStore{leases: rows{expired: 1}}, "INFO"},
		"repaired":         {&fakeStore{unsettled: 5, broken: 1}, "INFO"},
		"reclaim failed":   {&fakeStore{leases: rows{failAt: 1}}, "WARN"},
		"healing failed":   {&fakeStore{healFails: true}, "WARN"},
		"reclaim panicked": {&fakeStore{leases: rows{failAt: 1, panics: errBroken}}, "WARN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logger, logged := logs()
			_, err := maintenance.Recovery{Store: tc.store, Logger: logger}.Run(t.Context())
			if (err != nil) != (tc.level == "WARN") {
				t.Errorf("error = %v", err)
			}
			if !strings.Contains(logged(), "level="+tc.level+` msg="satchel: recovery"`) {
				t.Errorf("log = %s, want level %s", logged(), tc.level)
			}
		})
	}
}

func TestRecoveryPartsAreIndependent(t *testing.T) {
	t.Parallel()
	store := &fakeStore{leases: rows{expired: 50, failAt: 2}, unsettled: 9, broken: 2}
	report, err := maintenance.Recovery{Store: store}.Run(t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "maintenance.reclaim") {
		t.Errorf("error = %v", err)
	}
	if report.Reclaimed.Leases != 20 || report.Batches != 1 || report.Complete || report.Healed.Repaired != 2 {
		t.Errorf("report = %+v", report)
	}

	store = &fakeStore{leases: rows{expired: 50}, healFails: true}
	report, err = maintenance.Recovery{Store: store}.Run(t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "maintenance.heal") {
		t.Errorf("error = %v", err)
	}
	if report.Reclaimed.Leases != 50 || !report.Complete {
		t.Errorf("report = %+v", report)
	}
}

// A store that always finds a full batch ends with the budget, not never.
func TestRecoveryTimeBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{leases: rows{expired: 1 << 30}}
		store.before = func(string) { time.Sleep(time.Second) }
		report, err := maintenance.Recovery{Store: store}.Run(t.Context())
		if err != nil || report.Complete || report.Batches != 300 || report.Elapsed != 301*time.Second {
			t.Errorf("report = %+v, %v, want 300 batches of a second and a window", report, err)
		}
	})
}

func TestRecoveryStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{leases: rows{expired: 1 << 30}}
		store.before = func(string) { time.Sleep(time.Second) }
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		report, err := maintenance.Recovery{Store: store}.Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "deadline") != 1 {
			t.Errorf("error = %v, want the stop once", err)
		}
		if report.Batches != 2 || report.Complete || len(store.healAsked) != 0 {
			t.Errorf("report = %+v, heal %v", report, store.healAsked)
		}
	})
}

func TestRunRefusesBadSettings(t *testing.T) {
	t.Parallel()
	bad := maintenance.Config{InboxRetention: -1}
	store := &fakeStore{}
	for name, run := range map[string]func() error{
		"recovery without a store": func() error { _, err := maintenance.Recovery{}.Run(t.Context()); return err },
		"cleanup without a store":  func() error { _, err := maintenance.Cleanup{}.Run(t.Context()); return err },
		"cleanup with a nil pointer": func() error {
			_, err := maintenance.Cleanup{Store: (*fakeStore)(nil)}.Run(t.Context())
			return err
		},
		"recovery": func() error {
			_, err := maintenance.Recovery{Store: store, Config: bad}.Run(t.Context())
			return err
		},
		"cleanup": func() error {
			_, err := maintenance.Cleanup{Store: store, Config: bad}.Run(t.Context())
			return err
		},
	} {
		if err := run(); !fault.IsInvalid(err) {
			t.Errorf("%s: error = %v, want a *fault.Invalid", name, err)
		}
	}
	if len(store.calls) != 0 {
		t.Errorf("the store was called: %q", store.calls)
	}
}

// A run's errors name once what failed, whether the store's own do or not.
func TestErrorsNameTheOperationOnce(t *testing.T) {
	t.Parallel()
	own := &fault.Persistence{Op: "maintenance.reclaim", Code: "40001", Transient: true, Err: errBroken}
	for name, c := range map[string]struct {
		err       error
		text      string
		retryable bool
	}{
		"a store's own": {own, "satchel: maintenance.reclaim failed (SQLSTATE 40001): broken", true},
		"wrapped":       {fmt.Errorf("node 1: %w", own), "node 1: satchel: maintenance.reclaim failed (SQLSTATE 40001): broken", true},
		"refused":       {fault.NewInvalid("batch", "is odd"), "satchel: batch is odd", false},
		"foreign":       {errBroken, "satchel: maintenance.reclaim failed: broken", false},
	} {
		_, err := maintenance.Recovery{Store: failing{&fakeStore{}, c.err}}.Run(t.Context())
		if !errors.Is(err, c.err) || err.Error() != c.text || fault.Retryable(err) != c.retryable {
			t.Errorf("%s: error %v, retryable %v, want %s", name, err, fault.Retryable(err), c.text)
		}
	}
}

// failing is a store that takes nothing back.
type failing struct {
	*fakeStore
	err error
}

func (f failing) Reclaim(context.Context, int, int) (maintenance.Reclaimed, error) {
	return maintenance.Reclaimed{}, f.err
}
