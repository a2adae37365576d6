package migrator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"
)

// A service applies the migrations at start; one that may not change tables verifies them instead.
func Example() {
	ctx := context.Background()
	db, done := database()
	defer done()
	cfg := migrator.Config{Schema: "messaging"}

	var drift *migrator.DriftError
	if errors.As(migrator.Verify(ctx, db, cfg), &drift) {
		fmt.Println("before:", drift.Differences[0])
	}
	if err := migrator.Apply(ctx, db, cfg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("after: ", migrator.Verify(ctx, db, cfg))
	// Output:
	// before: column inbox.message_id is missing
	// after:  <nil>
}

// Apply may be called by every process at every start.
func ExampleApply() {
	ctx := context.Background()
	db, done := database()
	defer done()

	fmt.Println(migrator.Apply(ctx, db, migrator.Config{}))
	fmt.Println(migrator.Apply(ctx, db, migrator.Config{})) // finds nothing to do
	fmt.Println(migrator.Apply(ctx, db, migrator.Config{Schema: "app.messaging"}))
	// Output:
	// <nil>
	// <nil>
	// satchel: schema name has a dot: one name is wanted, not a qualified one
}

// Tables that another tool made are refused, until the configuration says how far that tool
// got.
func ExampleConfig_baseline() {
	ctx := context.Background()
	db, done := database()
	defer done()
	first := must(fs.ReadFile(schema.Migrations(), "20260101000001_create_inbox_outbox.sql"))
	must(db.ExecContext(ctx, string(first))) // as another tool did

	err := migrator.Apply(ctx, db, migrator.Config{})
	fmt.Println(errors.Is(err, migrator.ErrUnknownTables))
	fmt.Println(migrator.Apply(ctx, db, migrator.Config{Baseline: "20260101000001"}))
	fmt.Println(migrator.Verify(ctx, db, migrator.Config{}))
	// Output:
	// true
	// <nil>
	// <nil>
}

// A health check reports what somebody changed by hand.
func ExampleVerify() {
	ctx := context.Background()
	db, done := database()
	defer done()
	check(migrator.Apply(ctx, db, migrator.Config{}))
	must(db.ExecContext(ctx, "DROP INDEX idx_outbox_published"))

	var drift *migrator.DriftError
	if errors.As(migrator.Verify(ctx, db, migrator.Config{}), &drift) {
		for _, d := range drift.Differences {
			fmt.Println(d)
		}
	}
	// Output: index idx_outbox_published is missing
}

func ExampleStatus() {
	ctx := context.Background()
	db, done := database()
	defer done()

	pending := func() (n int) {
		for _, step := range must(migrator.Status(ctx, db, migrator.Config{})) {
			if !step.Done() {
				n++
			}
		}
		return n
	}
	fmt.Println("something to do:", pending() > 0)
	check(migrator.Apply(ctx, db, migrator.Config{}))
	fmt.Println("something to do:", pending() > 0)
	// Output:
	// something to do: true
	// something to do: false
}

// Where relays poll only, and in particular where transactions are prepared, the trigger is
// not needed. Verify has to be told.
func ExampleDisableNotify() {
	ctx := context.Background()
	db, done := database()
	defer done()
	check(migrator.Apply(ctx, db, migrator.Config{}))
	check(migrator.DisableNotify(ctx, db, migrator.Config{}))

	fmt.Println(migrator.Verify(ctx, db, migrator.Config{}) == nil)
	fmt.Println(migrator.Verify(ctx, db, migrator.Config{AllowDisabledNotify: true}) == nil)
	// Output:
	// false
	// true
}
