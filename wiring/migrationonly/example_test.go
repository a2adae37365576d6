package migrationonly_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/internal/testdb"
	"github.com/satchel-go/satchel/wiring/migrationonly"
)

// A step of a deployment, under a role that owns the tables. The tree places them where the
// service will look for them.
func ExampleNew() {
	e := &example{}
	defer e.end()
	url := testdb.Empty(e) // a deployment takes it from its environment

	tree := config.Default()
	tree.DB.Schemas.InboxOutbox = "messaging"
	migration, cleanup, err := migrationonly.New(tree, wiring.Inputs{Database: wiring.Database{URL: url}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cleanup()
	ctx := context.Background()
	fmt.Println("as it should be:", migration.Verify(ctx) == nil)
	fmt.Println("applied:", migration.Apply(ctx) == nil)
	fmt.Println("as it should be:", migration.Verify(ctx) == nil)
	// Output:
	// as it should be: false
	// applied: true
	// as it should be: true
}

// What cannot work is refused before anything is connected to, and no error repeats the URL.
func ExampleNew_refused() {
	_, _, err := migrationonly.New(config.Default(), wiring.Inputs{
		Database: wiring.Database{URL: "postgres://owner:hunter2@db.example:port/app"},
	})
	fmt.Println(err)
	// Output: satchel: database URL is not one that pgx can read
}

// example is the testing.TB of an example, which has no test behind it.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
}
