package layouts

import (
	"errors"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/satchel-go/satchel/schema"
)

func TestGooseHasNoWayDown(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	provider := newGoose(t, address(t, name, ""), schema.Goose())
	if _, err := provider.Up(testContext(t)); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, db, "public")
	for _, version := range versions(t) {
		if _, err := provider.ApplyVersion(testContext(t), version, false); state(err) != "0A000" {
			t.Errorf("%d down: %v, want SQLSTATE 0A000", version, err)
		}
	}
	if _, err := provider.Down(testContext(t)); state(err) != "0A000" {
		t.Errorf("down: %v", err)
	}
	if fingerprint(t, db, "public") != before {
		t.Error("something was changed")
	}
	if results, err := provider.Up(testContext(t)); err != nil || len(results) != 0 {
		t.Errorf("up again: %v %v, want nothing to do", results, err)
	}
}

// With the session lock any number of services may migrate when they start.
func TestGooseByManyAtOnce(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
		if err != nil {
			t.Fatal(err)
		}
		provider := newGoose(t, address(t, name, ""), schema.Goose(), goose.WithSessionLocker(locker))
		wg.Go(func() { _, errs[i] = provider.Up(testContext(t)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
}
